import FaultlineModel
import FaultlineStore
import Foundation
import SharedData
import Testing

/// A value type of the program's own.
struct Shade: Codable, Hashable, TransformableValue {
    var red: Double
    var name: String?
    var parts: [String: Int] = [:]
    static let zeroValue = Shade(red: 0)
}

/// Stores strings reversed, as UTF-8.
final class MirrorTransformer: ValueTransformer, @unchecked Sendable {
    override func transformedValue(_ value: Any?) -> Any? {
        (value as? String).map { Data(String($0.reversed()).utf8) }
    }

    override func reverseTransformedValue(_ value: Any?) -> Any? {
        (value as? Data).map { String(String(decoding: $0, as: UTF8.self).reversed()) }
    }
}

final class Wall: ManagedObject {
    static let shade = AttributeKey<Shade>("shade")
    static let other = AttributeKey<Shade?>("other")
    static let bytes = AttributeKey<Data?>("anything")
    static let otherBytes = AttributeKey<Data?>("other")
}

@Suite("Transformable attributes")
struct TransformableTests {
    private func makeStore() throws -> TestStore {
        ValueTransformer.setValueTransformer(MirrorTransformer(), forName: "Mirror")
        return try TestStore(
            [
                EntityDescription(
                    "Wall",
                    attributes: [
                        AttributeDescription("shade", .transformable),
                        AttributeDescription("other", .binary, allowsExternalBinaryDataStorage: true),
                        AttributeDescription("anything", .transformable),
                        AttributeDescription("mirrored", .transformable, valueTransformerName: "Mirror"),
                        AttributeDescription("unknown", .transformable, valueTransformerName: "NobodyKnows"),
                    ])
            ], classes: [Wall.self])
    }

    @Test("A Codable type can be read and set like any other value")
    func codable() throws {
        let store = try makeStore()
        let wall = Wall(context: store.context)
        #expect(wall[Wall.shade] == Shade.zeroValue && wall[Wall.other] == nil)
        let shade = Shade(red: .infinity, name: "warm", parts: ["b": 2, "a": 1])
        wall[Wall.shade] = shade
        wall["other"] = Shade(red: 0.5)
        try store.context.save()
        #expect(
            try store.sql("SELECT CAST(ZSHADE AS TEXT), CAST(ZOTHER AS TEXT) FROM ZWALL") == [
                #"{"name":"warm","parts":{"a":1,"b":2},"red":"inf"}|\#u{1}{"parts":{},"red":0.5}"#
            ])
        let read = try #require(
            try store.container.newBackgroundContext().existingObject(with: wall.objectID) as? Wall)
        #expect(read[Wall.shade] == shade && read[Wall.other] == Shade(red: 0.5))
        read[Wall.shade] = shade
        #expect(!read.hasPersistentChangedValues, "equal values are equal bytes")
        wall[Wall.other] = nil
        try store.context.save()
        #expect(try store.sql("SELECT ZOTHER FROM ZWALL") == ["NULL"])
    }

    @Test("Bytes that cannot be decoded read as the default value, and the next fetch or save throws")
    func unreadable() throws {
        let store = try makeStore()
        let wall = Wall(context: store.context)
        try store.context.save()
        _ = try store.sql("UPDATE ZWALL SET ZSHADE = X'7B', ZANYTHING = X'62706C69737430300102', Z_OPT = 2")
        store.context.refresh(wall, mergeChanges: false)
        store.container.persistentStoreCoordinator.removeUnusedRows()
        #expect(wall[Wall.shade] == Shade.zeroValue)
        #expect(
            performing { try store.context.save() }
                == "Reading Wall \(wall.objectID): Shade cannot decode the 1 bytes of 'shade'; read them as Data, or correct the attribute's transformer."
        )
        #expect(wall["anything"] == nil)
        #expect(
            performing { _ = try store.context.count(for: FetchRequest<Wall>()) }
                == "Reading Wall \(wall.objectID): 'NSSecureUnarchiveFromData' cannot decode the 10 bytes of 'anything'; read them as Data, or correct the attribute's transformer."
        )
        #expect(wall[Wall.bytes]?.count == 10)
        try store.context.save()
    }

    @Test("A registered transformer converts values that are read and set by name")
    func named() throws {
        let store = try makeStore()
        let wall = Wall(context: store.context)
        wall["mirrored"] = "abc"
        wall["unknown"] = Data([1, 2])
        #expect(wall["mirrored"] as? String == "abc")
        try store.context.save()
        #expect(try store.sql("SELECT CAST(ZMIRRORED AS TEXT), HEX(ZUNKNOWN) FROM ZWALL") == ["cba|0102"])
        #expect(wall["mirrored"] as? String == "abc")
        #expect(wall["unknown"] as? Data == Data([1, 2]), "what nobody has registered is left as it is")
        #expect(ValueTransformer.valueTransformerNames().contains("Mirror"))
        #expect(ValueTransformer.valueTransformer(forName: "NobodyKnows") == nil)
        #expect(wall.changedValues().isEmpty)
        wall["mirrored"] = "x"
        #expect(wall.changedValues()["mirrored"] as? String == "x")
        #expect(wall.committedValues(forKeys: ["mirrored"])["mirrored"] as? String == "abc")
    }

    @Test("Without a transformer's name, values are archived as Core Data does")
    func archived() throws {
        let store = try makeStore()
        let wall = Wall(context: store.context)
        let date = Date(timeIntervalSinceReferenceDate: 1.5)
        let value: [String: Any] = [
            "text": "Grüße", "number": 7, "real": 0.25, "flag": true, "date": date, "data": Data([0, 255]),
            "list": ["a", ["b": -1]],
        ]
        wall["anything"] = value
        try store.context.save()
        let bytes = try #require(wall[Wall.bytes])
        #expect(bytes.starts(with: Data("bplist00".utf8)))
        let read = try #require(wall["anything"] as? [AnyHashable: Any])
        #expect(read.count == 7)
        #expect(read["text"] as? String == "Grüße" && read["number"] as? Int64 == 7 && read["real"] as? Double == 0.25)
        #expect(
            read["flag"] as? Bool == true && read["date"] as? Date == date && read["data"] as? Data == Data([0, 255]))
        let list = try #require(read["list"] as? [Any])
        #expect(list[0] as? String == "a" && (list[1] as? [AnyHashable: Any])?["b"] as? Int64 == -1)
        // Foundation's own decoder reads the same.
        let theirs = try NSKeyedUnarchiver.unarchivedObject(
            ofClasses: [NSDictionary.self, NSArray.self, NSString.self, NSNumber.self, NSDate.self, NSData.self],
            from: bytes)
        #expect((theirs as? [String: Any])?["text"] as? String == "Grüße")

        // Property lists that are not archives, and JSON.
        wall[Wall.bytes] = try PropertyListSerialization.data(
            fromPropertyList: ["x": [1, 2]], format: .binary, options: 0)
        #expect(((wall["anything"] as? [AnyHashable: Any])?["x"] as? [Any])?.count == 2)
        wall[Wall.bytes] = Data("[true, null]".utf8)
        #expect((wall["anything"] as? [Any])?.count == 2)
    }

    @Test(
        "Core Data's archives are decoded, and objects of unknown classes are described",
        .enabled(if: SharedData.exists, "\(SharedData.need)"))
    func coreData() throws {
        let container = try CoreDataFixture.books.open(CoreDataFixture.books.copy())
        let context = container.newBackgroundContext()
        let books = try context.fetch(FetchRequest<ManagedObject>(entityName: "Book"))
        #expect(books.count == 52)
        for book in books {
            let cover = try #require(book["cover"] as? ArchivedObject)
            #expect(cover.className == "CoreDataPlus_Tests.Cover")
            #expect(cover.classNames == ["CoreDataPlus_Tests.Cover", "NSObject"])
            let text = book.entityName == "Book" ? "default cover" : "Cover Graphic Novel"
            #expect(cover["text"] as? String == text)
            #expect(cover.description == "<CoreDataPlus_Tests.Cover: text = \(text)>")
        }
        let pages = try context.fetch(FetchRequest<ManagedObject>(entityName: "Page"))
        #expect(pages.count == 4970)
        for page in pages {
            let content = try #require(page["content"] as? ArchivedObject)
            #expect(content.className == "Content")
            #expect(content["text"] as? String == "content for page \(try #require(page["number"] as? Int64))")
        }
        try context.save()
    }

    @Test("Archives with random bytes changed are either decoded or rejected, without a crash")
    func damaged() throws {
        let sample: [String: Any] = ["a": ["b", 1, 2.5, Date(), Data([1]), ["c": ["d", "b"]]], "u": "ü"]
        let archive = try NSKeyedArchiver.archivedData(withRootObject: sample, requiringSecureCoding: true)
        let plain = try PropertyListSerialization.data(fromPropertyList: sample, format: .binary, options: 0)
        let transformer = try #require(
            ValueTransformer.valueTransformer(forName: .secureUnarchiveFromDataTransformerName))
        var random = SplitMix(state: 1)
        var (read, refused) = (0, 0)
        for original in [archive, plain] {
            for length in 0...original.count { _ = transformer.transformedValue(original.prefix(length)) }
            for _ in 0..<5000 {
                var bytes = [UInt8](original)
                for _ in 0...random.next(4) { bytes[random.next(bytes.count)] = UInt8(random.next(256)) }
                if transformer.transformedValue(Data(bytes)) == nil { refused += 1 } else { read += 1 }
            }
        }
        #expect(read > 1000 && refused > 1000)
    }

    @Test("Archives that contain themselves or grow exponentially are rejected at once")
    func amplified() throws {
        let transformer = try #require(
            ValueTransformer.valueTransformer(forName: .secureUnarchiveFromDataTransformerName))
        let twice = PropertyListBytes.doubling(levels: 1)
        #expect((transformer.transformedValue(twice) as? [Any])?.count == 2)
        let itself = PropertyListBytes.list([PropertyListBytes.array(0)])
        for hostile in [itself, PropertyListBytes.doubling(), PropertyListBytes.nested(levels: 60_000)] {
            #expect(transformer.transformedValue(hostile) == nil)
            #expect(CodableTransformer<Tree>(.propertyList).reverseTransformedValue(hostile) == nil)
        }
        #expect(CodableTransformer<Tree>(.propertyList).reverseTransformedValue(twice) as? Tree == Tree(count: 3))

        // The same in a keyed archive, whose arrays refer to the others by number, beginning with 1.
        func archive(_ arrays: [[Int]]) throws -> Data {
            func reference(_ number: Int) -> String { "<dict><key>CF$UID</key><integer>\(number)</integer></dict>" }
            let objects = arrays.map { "<array>\($0.map(reference).joined())</array>" }
            let text = """
                <plist version="1.0"><dict><key>$archiver</key><string>NSKeyedArchiver</string>
                <key>$top</key><dict><key>root</key>\(reference(1))</dict>
                <key>$objects</key><array><string>$null</string>\(objects.joined())<true/></array></dict></plist>
                """
            let list = try PropertyListSerialization.propertyList(from: Data(text.utf8), format: nil)
            return try PropertyListSerialization.data(fromPropertyList: list, format: .binary, options: 0)
        }
        func doubling(_ levels: Int) -> [[Int]] { (1...levels).map { [$0 + 1, $0 + 1] } }
        #expect((transformer.transformedValue(try archive(doubling(3))) as? [Any])?.count == 2)
        #expect(transformer.transformedValue(try archive(doubling(60))) == nil)
        // Arrays that end in the one before, which has been decoded by then.
        func chained(_ count: Int) -> [[Int]] {
            let lists = (0..<count * 10).map { [$0 % 10 < 9 ? $0 + 3 : $0 < 10 ? count * 10 + 2 : $0 - 17] }
            return [(0..<count).map { $0 * 10 + 2 }] + lists
        }
        #expect((transformer.transformedValue(try archive(chained(10))) as? [Any])?.count == 10)
        #expect(transformer.transformedValue(try archive(chained(40))) == nil)
    }

    @Test("Setting a value that cannot be converted to bytes ends the program")
    func wrongValue() async {
        await #expect(processExitsWith: .failure) {
            let wall = Wall(context: try TransformableTests().makeStore().context)
            wall["mirrored"] = 3
        }
        await #expect(processExitsWith: .failure) {
            let wall = Wall(context: try TransformableTests().makeStore().context)
            wall["unknown"] = "text"
        }
    }
}

/// A value that decodes everything that its bytes contain.
private struct Tree: Codable, Equatable {
    /// The number of values, including the lists.
    var count: Int

    init(count: Int) {
        self.count = count
    }

    init(from decoder: any Decoder) throws {
        count = 1
        guard var list = try? decoder.unkeyedContainer() else { return }
        while !list.isAtEnd { count += try list.decode(Tree.self).count }
    }
}

/// Random numbers that are the same in every run.
struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }

    /// Returns a number from 0 up to, but not including, the bound.
    mutating func next(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }
}
