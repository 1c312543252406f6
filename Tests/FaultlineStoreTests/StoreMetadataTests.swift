import FaultlineModel
import FaultlineStore
import Foundation
import SharedData
import Testing

@Suite("A store keeps metadata next to its objects")
struct StoreMetadataTests {
    private static func plain(_ metadata: [String: any Sendable], _ key: String) -> String {
        metadata[key].map { "\($0)" } ?? "none"
    }

    private func metadata(of url: URL, _ type: PersistentStore.StoreType = .sqlite) throws -> [String: any Sendable] {
        try PersistentStoreCoordinator.metadataForPersistentStore(type: type, at: url)
    }

    @Test(
        "New metadata is readable at once, and in the file after the next save",
        arguments: [
            PersistentStore.StoreType.sqlite, .binary,
        ])
    func nextSave(_ type: PersistentStore.StoreType) throws {
        let store = try TestStore { $0.type = type }
        let coordinator = store.container.persistentStoreCoordinator
        let persistent = coordinator.persistentStores[0]
        let before = try metadata(of: store.url, type)
        try coordinator.setMetadata(["version": 3], for: persistent)
        #expect(coordinator.metadata(for: persistent)["version"] as? Int == 3)
        #expect(try metadata(of: store.url, type)["version"] == nil)
        try store.context.save()
        #expect(try metadata(of: store.url, type)["version"] == nil, "A save of nothing writes nothing.")
        try store.fill(items: 1)
        let after = try metadata(of: store.url, type)
        #expect(after["version"] as? Int == 3)
        #expect(Set(after.keys) == Set(before.keys).union(["version"]))
        #expect(after[PersistentStore.typeKey] as? String == type.rawValue)
        #expect(after[PersistentStore.uuidKey] as? String == persistent.identifier)
        // Setting metadata replaces all of it.
        try coordinator.setMetadata(["name": "x"], for: persistent)
        try store.fill(items: 1)
        #expect(try metadata(of: store.url, type)["version"] == nil)
        #expect(try metadata(of: store.url, type)["name"] as? String == "x")
    }

    @Test("A reopened store has its metadata")
    func reopened() throws {
        let store = try TestStore()
        let coordinator = store.container.persistentStoreCoordinator
        try coordinator.setMetadata(["version": 3], for: coordinator.persistentStores[0])
        try store.fill(items: 1)
        let other = try store.foreignContext(Groceries.classes).persistentStoreCoordinator
        #expect(other.persistentStores[0].metadata["version"] as? Int == 3)
        #expect(other.persistentStores[0].identifier == coordinator.persistentStores[0].identifier)
        #expect(other.persistentStores[0] != coordinator.persistentStores[0])
    }

    @Test("Values of every type round-trip")
    func types() throws {
        let store = try TestStore()
        let coordinator = store.container.persistentStoreCoordinator
        let date = Date(timeIntervalSinceReferenceDate: 12345.5)
        let values: [String: any Sendable] = [
            "text": "Zürich", "whole": 1, "small": UInt8(7), "least": Int.min, "real": 2.0, "short": Float(0.5),
            "yes": true, "no": false, "date": date, "data": Data([1, 2, 3]),
            "list": [1, "two", [true, 2.5] as [any Sendable]] as [any Sendable], "texts": ["a", "b"],
            "dictionary": ["deep": ["deeper": 1]],
        ]
        try coordinator.setMetadata(values, for: coordinator.persistentStores[0])
        let set = coordinator.metadata(for: coordinator.persistentStores[0])
        try store.fill(items: 1)
        for read in [set, try metadata(of: store.url)] {
            #expect(read["text"] as? String == "Zürich")
            #expect(type(of: read["whole"]! as Any) == Int.self && read["whole"] as? Int == 1)
            #expect(read["small"] as? Int == 7)
            #expect(read["least"] as? Int == .min)
            #expect(type(of: read["real"]! as Any) == Double.self && read["real"] as? Double == 2)
            #expect(read["short"] as? Double == 0.5)
            #expect(type(of: read["yes"]! as Any) == Bool.self && read["yes"] as? Bool == true)
            #expect(read["no"] as? Bool == false)
            #expect(read["date"] as? Date == date)
            #expect(read["data"] as? Data == Data([1, 2, 3]))
            #expect(Self.plain(read, "list") == "[1, \"two\", [true, 2.5]]")
            #expect(read["texts"] as? [String] == ["a", "b"])
            #expect((read["dictionary"] as? [String: any Sendable])?["deep"] as? [String: Int] == ["deeper": 1])
        }
    }

    @Test("A value that a property list cannot hold is rejected, and nothing is set")
    func refused() throws {
        let store = try TestStore()
        let coordinator = store.container.persistentStoreCoordinator
        let id = UUID()
        for (value, type) in [(id, "UUID"), ([1, id] as [any Sendable], "Array<Any>")] as [(any Sendable, String)] {
            #expect(
                performing { try coordinator.setMetadata(["id": value], for: coordinator.persistentStores[0]) }
                    == "Setting metadata in '\(store.url.path)': the value of 'id' is a \(type), which a property list cannot hold; pass a string, number, Boolean, date or data, or an array or dictionary of these."
            )
        }
        #expect(coordinator.persistentStores[0].metadata["id"] == nil)
    }

    @Test("The store's own values cannot be overwritten")
    func ownValues() throws {
        let store = try TestStore()
        let coordinator = store.container.persistentStoreCoordinator
        let own = try metadata(of: store.url)
        try coordinator.setMetadata(
            ["NSStoreType": "XML", "NSStoreUUID": "1", "FaultlineModelHash": "0", "mine": 1],
            for: coordinator.persistentStores[0])
        try store.fill(items: 1)
        let after = try metadata(of: store.url)
        #expect(after.count == own.count + 1)
        for (key, value) in own where key != "NSStoreModelVersionHashes" {
            #expect("\(value)" == Self.plain(after, key))
        }
        let hashes = [own, after].map { $0["NSStoreModelVersionHashes"] as? [String: Data] }
        #expect(hashes[0] == hashes[1] && hashes[0]?.count == 4)
        _ = try store.foreignContext(Groceries.classes)
    }

    @Test("After a failed save, the next save writes the metadata")
    func failedSave() throws {
        let store = try TestStore()
        try store.fill(items: 1)
        let coordinator = store.container.persistentStoreCoordinator
        let item = try store.context.fetch(FetchRequest<Item>())[0]
        try store.sql("UPDATE ZITEM SET Z_OPT = Z_OPT + 1, ZNAME = 'Other'")
        item.amount = 3
        try coordinator.setMetadata(["version": 3], for: coordinator.persistentStores[0])
        #expect(throws: StoreError.self) { try store.context.save() }
        #expect(try metadata(of: store.url)["version"] == nil)
        store.context.rollback()
        try store.fill(items: 1)
        #expect(try metadata(of: store.url)["version"] as? Int == 3)
    }

    @Test("A store written by Core Data shows its own metadata, and keeps it when some is added")
    func coreData() throws {
        let url = try CoreDataFixture.books.copy()
        let before = try metadata(of: url)
        #expect((before["NSStoreModelVersionHashes"] as? [String: Data])?.isEmpty == false)
        #expect(before[PersistentStore.typeKey] as? String == "SQLite")
        let container = try CoreDataFixture.books.open(url) { $0.ignoresPersistentHistory = true }
        let coordinator = container.persistentStoreCoordinator
        try coordinator.setMetadata(["seen": true], for: coordinator.persistentStores[0])
        let context = container.newBackgroundContext()
        let entity = try #require(container.managedObjectModel.entities.first { !$0.isAbstract && $0.parent == nil })
        let object = try #require(
            try context.fetch(FetchRequest<ManagedObject>(entityName: entity.name, fetchLimit: 1)).first)
        let attribute = try #require(entity.attributes.first { $0.type == .string })
        object.setValue("changed", forKey: attribute.name)
        try context.save()
        let after = try metadata(of: url)
        #expect(after["seen"] as? Bool == true)
        #expect(Set(after.keys) == Set(before.keys).union(["seen"]))
        #expect(
            after["NSStoreModelVersionHashes"] as? [String: Data] == before["NSStoreModelVersionHashes"]
                as? [String: Data])
    }

    private func replaceMetadata(_ list: Data, _ url: URL) throws {
        let hex = list.map { String(format: "%02x", $0) }.joined()
        try SQLShell.run("UPDATE Z_METADATA SET Z_PLIST = x'\(hex)'", url)
    }

    @Test("Metadata that cannot be read are an error, whoever opens the store, and stay in the file")
    func unreadable() throws {
        let store = try TestStore()
        try store.fill(items: 1)
        let coordinator = store.container.persistentStoreCoordinator
        let entities = """
            <!DOCTYPE plist [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><plist version="1.0"><dict/></plist>
            """
        for (list, reason) in [
            (PropertyListBytes.doubling(), "expands to more than 1000000 objects"),
            (PropertyListBytes.nested(levels: 60_000), "nests lists more than 256 levels deep"),
            (PropertyListBytes.list([[0x09]], count: .max), "ends too early or is damaged"),
            (PropertyListBytes.list([[0x09]]), "is not a dictionary"), (Data("x".utf8), "is not a property list"),
            (
                Data(entities.utf8),
                "has a document type with its own declarations in line 1, which is not allowed"
            ),
        ] {
            try replaceMetadata(list, store.url)
            let message =
                "The metadata of '\(store.url.path)' cannot be read because its property list \(reason); restore the store from a copy."
            #expect(performing { _ = try metadata(of: store.url) } == message)
            #expect(performing { _ = try store.foreignContext(Groceries.classes) } == message)
            #expect(
                performing {
                    let model = try ManagedObjectModel(entities: Groceries.entities())
                    _ = try PersistentStoreCoordinator.fits(model, storeAt: store.url)
                } == message)
            // The store was open before.
            try coordinator.setMetadata(["version": 3], for: coordinator.persistentStores[0])
            #expect(performing { try store.fill(items: 1) } == message)
            store.context.rollback()
            #expect(try SQLShell.cells("SELECT Z_PLIST FROM Z_METADATA", store.url).first?["Z_PLIST"] == .blob(list))
        }
    }

    @Test("Metadata in XML, and values that only others know, stay as they are", arguments: [false, true])
    func foreignValues(isXML: Bool) throws {
        let store = try TestStore()
        try store.fill(items: 1)
        guard case .blob(let old)? = try SQLShell.cells("SELECT Z_PLIST FROM Z_METADATA", store.url).first?["Z_PLIST"]
        else { throw SQLShell.Failure(message: "no metadata") }
        var list = try #require(PropertyListSerialization.propertyList(from: old, format: nil) as? [String: Any])
        list["NSForeign"] = ["most": UInt64.max, "list": [1, [2.5, true]], "at": Date(timeIntervalSince1970: 9)]
        try replaceMetadata(
            PropertyListSerialization.data(fromPropertyList: list, format: isXML ? .xml : .binary, options: 0),
            store.url)
        let coordinator = store.container.persistentStoreCoordinator
        try coordinator.setMetadata(["version": 3], for: coordinator.persistentStores[0])
        try store.fill(items: 1)
        guard case .blob(let new)? = try SQLShell.cells("SELECT Z_PLIST FROM Z_METADATA", store.url).first?["Z_PLIST"]
        else { throw SQLShell.Failure(message: "no metadata") }
        list["version"] = 3
        let expected = try PropertyListSerialization.data(fromPropertyList: list, format: .binary, options: 0)
        #expect(try PropertyListValue(new, limit: 1000) == PropertyListValue(expected, limit: 1000))
        // A reference of an archive is no value that can be written.
        let reference = PropertyListBytes.list([[0xd1, 0, 1, 0, 2], [0x51, 0x61], [0x80, 0x01]])
        try replaceMetadata(reference, store.url)
        try coordinator.setMetadata(["version": 4], for: coordinator.persistentStores[0])
        #expect(
            performing { try store.fill(items: 1) }
                == "The metadata of '\(store.url.path)' cannot be changed because they contain values that a property list cannot hold; restore the store from a copy."
        )
    }

    @Test("Reading the metadata changes nothing in the file or next to it", arguments: [true, false])
    func readingWritesNothing(_ isOpen: Bool) throws {
        let url = try CoreDataFixture.books.copy()
        let folder = url.deletingLastPathComponent()
        let container = isOpen ? try CoreDataFixture.books.open(url) : nil
        func state() throws -> [String] {
            try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted().map { name in
                let file = folder.appendingPathComponent(name)
                return name.hasSuffix("-shm") ? name : "\(name) \(try Data(contentsOf: file).hashValue)"
            }
        }
        let before = try state()
        #expect(try metadata(of: url)["NSPersistenceFrameworkVersion"] != nil)
        #expect(try state() == before)
        withExtendedLifetime(container) {}
    }

    @Test("Reading metadata from a file that is not a store throws an error")
    func noStore() throws {
        let folder = try TestStore.makeFolder()
        let url = folder.appendingPathComponent("Other.sqlite")
        #expect(
            performing { _ = try metadata(of: url) }
                == "'\(url.path)' cannot be opened; check that this user may read and write it and its folder.")
        #expect(!FileManager.default.fileExists(atPath: url.path))
        #expect(
            performing { _ = try metadata(of: url, .binary) }
                == "'\(url.path)' cannot be opened; check that this user may read and write it and its folder.")
        try SQLShell.run("CREATE TABLE player (id INTEGER)", url)
        #expect(
            performing { _ = try metadata(of: url) }
                == "'\(url.path)' is an SQLite database but not a store: it has tables, but none of them is Z_METADATA; name another file."
        )
    }
}
