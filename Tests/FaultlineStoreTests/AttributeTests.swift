import FaultlineModel
import FaultlineStore
import Foundation
import Testing

final class Everything: ManagedObject {
    static let decimal = AttributeKey<Decimal?>("decimal")
    static let blob = AttributeKey<Data?>("blob")
    static let note = AttributeKey<String?>("note")
}

@Suite("Attributes of every type round-trip through the store")
struct AttributeTests {
    static let entity = EntityDescription(
        "Everything",
        attributes: [
            AttributeDescription("small", .integer16), AttributeDescription("middle", .integer32),
            AttributeDescription("large", .integer64), AttributeDescription("decimal", .decimal),
            AttributeDescription("double", .double), AttributeDescription("float", .float),
            AttributeDescription("text", .string), AttributeDescription("flag", .boolean),
            AttributeDescription("date", .date), AttributeDescription("data", .binary),
            AttributeDescription("uuid", .uuid), AttributeDescription("uri", .uri),
            AttributeDescription("archive", .transformable, valueTransformerName: "NobodyHasRegisteredIt"),
            AttributeDescription("note", .undefined, isTransient: true),
            AttributeDescription("blob", .binary, allowsExternalBinaryDataStorage: true),
        ])

    private func makeStore() throws -> TestStore {
        try TestStore([Self.entity], classes: [Everything.self]) { $0.externalStorageThreshold = 1000 }
    }

    static let values: [(String, AttributeValue, String)] = [
        ("small", .integer(-32768), "integer"), ("middle", .integer(2_147_483_647), "integer"),
        ("large", .integer(.min), "integer"), ("decimal", .decimal(Decimal(string: "12345.6789")!), "real"),
        ("decimal", .decimal(Decimal(string: "-7")!), "integer"),
        ("decimal", .decimal(Decimal(string: "0.1234567890123456789")!), "blob"),
        ("double", .double(0.1), "real"), ("double", .double(.infinity), "real"),
        ("float", .double(Double(Float(0.1))), "real"),
        ("text", .string("Käse 🧀\0 end"), "text"), ("text", .string(""), "text"), ("flag", .boolean(true), "integer"),
        ("flag", .boolean(false), "integer"),
        ("date", .date(Date(timeIntervalSinceReferenceDate: 800_000_000.25)), "real"),
        ("data", .binary(Data([0, 1, 255])), "blob"), ("data", .binary(Data()), "blob"),
        ("uuid", .uuid(UUID(uuidString: "0FF1CE00-1234-5678-9ABC-DEF012345678")!), "blob"),
        ("uri", .uri(URL(string: "https://example.org/a?b=c")!), "text"),
        ("archive", .binary(Data("plist".utf8)), "blob"),
        ("blob", .binary(Data(repeating: 7, count: 10)), "blob"),
        ("blob", .binary(Data(repeating: 7, count: 5000)), "blob"),
    ]

    @Test("A value is stored with the expected SQLite type and read back from the file", arguments: values)
    func roundTrip(_ name: String, _ value: AttributeValue, _ type: String) throws {
        let store = try makeStore()
        let object = Everything(context: store.context)
        object.setValue(value, forKey: name)
        try store.context.save()
        #expect(AttributeValue(any: object.value(forKey: name)) == value, "read from the saved row")
        #expect(try store.sql("SELECT typeof(Z\(name.uppercased())) FROM ZEVERYTHING") == [type])

        // A second container shares nothing in memory with the first.
        let second = try PersistentContainer(
            name: "Second", managedObjectModel: store.container.managedObjectModel, storeURL: store.url,
            classes: [Everything.self])
        let found = try second.newBackgroundContext().fetch(FetchRequest<Everything>())
        #expect(AttributeValue(any: found[0].value(forKey: name)) == value)
    }

    @Test("A missing value is stored as NULL even after an object that has one", arguments: values)
    func nextIsNull(_ name: String, _ value: AttributeValue, _ type: String) throws {
        let store = try makeStore()
        for given in [value, nil, value] {
            let object = Everything(context: store.context)
            object.setValue(given, forKey: name)
        }
        try store.context.save()
        #expect(try store.sql("SELECT typeof(Z\(name.uppercased())) FROM ZEVERYTHING") == [type, "null", type])
    }

    @Test("Negative zero is stored as zero, and NaN as NULL", arguments: [("double", "real"), ("date", "integer")])
    func unusualNumbers(_ name: String, _ type: String) throws {
        let store = try makeStore()
        for number in [-0.0, .nan, 1] {
            let object = Everything(context: store.context)
            object.setValue(name == "date" ? Date(timeIntervalSinceReferenceDate: number) : number, forKey: name)
        }
        try store.context.save()
        let column = name.uppercased()
        // A negative zero would be printed with its sign.
        #expect(
            try store.sql("SELECT printf('%!.1f', Z\(column)), typeof(Z\(column)) FROM ZEVERYTHING")
                == ["0.0|\(type)", "0.0|null", "1.0|\(type)"])
    }

    @Test("Every attribute can be nil")
    func null() throws {
        let store = try makeStore()
        let object = Everything(context: store.context)
        for (name, value, _) in Self.values { object.setValue(value, forKey: name) }
        try store.context.save()
        for (name, _, _) in Self.values { object.setValue(nil, forKey: name) }
        try store.context.save()
        for (name, _, _) in Self.values { #expect(object.value(forKey: name) == nil) }
        let columns = Set(Self.values.map { "Z\($0.0.uppercased()) IS NULL" }).sorted().joined(separator: " AND ")
        #expect(try store.sql("SELECT \(columns) FROM ZEVERYTHING") == ["1"])
    }

    @Test("A transient attribute lives in memory and is never stored")
    func transient() throws {
        let store = try makeStore()
        let object = Everything(context: store.context)
        object[Everything.note] = "for now"
        #expect(object[Everything.note] == "for now")
        try store.context.save()
        #expect(object[Everything.note] == "for now")
        store.context.refresh(object, mergeChanges: false)
        #expect(object[Everything.note] == nil)
    }

    @Test("Large values are stored in external files that are created and deleted with them")
    func externalFiles() throws {
        let store = try makeStore()
        let folder = store.folder.appendingPathComponent(".Test_SUPPORT/_EXTERNAL_DATA")
        func files() -> [String] {
            ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).sorted()
        }
        let object = Everything(context: store.context)
        object[Everything.blob] = Data(repeating: 1, count: 999)
        try store.context.save()
        #expect(files().isEmpty)
        #expect(try store.sql("SELECT hex(substr(ZBLOB, 1, 1)), length(ZBLOB) FROM ZEVERYTHING") == ["01|1000"])

        object[Everything.blob] = Data(repeating: 2, count: 1000)
        try store.context.save()
        let first = files()
        #expect(first.count == 1)
        #expect(UUID(uuidString: first.first ?? "") != nil)
        #expect(
            try store.sql("SELECT hex(substr(ZBLOB, 1, 1)), CAST(substr(ZBLOB, 2, 36) AS TEXT) FROM ZEVERYTHING")
                == ["02|\(first[0])"])

        object[Everything.blob] = Data(repeating: 3, count: 2000)
        try store.context.save()
        #expect(files().count == 1)
        #expect(files() != first)
        #expect(object[Everything.blob] == Data(repeating: 3, count: 2000))

        store.context.delete(object)
        try store.context.save()
        #expect(files().isEmpty)
    }

    @Test("A missing external file reads as nil, and the next fetch throws an error that names it")
    func missingFile() throws {
        let store = try makeStore()
        let object = Everything(context: store.context)
        object[Everything.blob] = Data(repeating: 1, count: 5000)
        try store.context.save()
        let folder = store.folder.appendingPathComponent(".Test_SUPPORT/_EXTERNAL_DATA")
        let file = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)[0]
        try FileManager.default.removeItem(at: file)
        #expect(object[Everything.blob] == nil)
        #expect(
            performing { _ = try store.context.fetch(FetchRequest<Everything>()) }
                == "Reading a large value failed because the file '\(file.path)' cannot be read; put it back from a copy of the store."
        )
    }
}

extension AttributeValue {
    /// Converts a result of `value(forKey:)`.
    init?(any value: Any?) {
        guard let scalar = value as? any AttributeScalar else { return nil }
        self = scalar.attributeValue
    }
}
