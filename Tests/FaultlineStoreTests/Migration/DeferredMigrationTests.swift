import FaultlineMigration
import FaultlineModel
import FaultlineStore
import Foundation
import Testing

@Suite("A deferred migration leaves columns and tables behind, and removes them later")
struct DeferredMigrationTests {
    private let store: MigratedStore
    private static let key = PersistentStoreCoordinator.deferredLightweightMigrationKey

    init() throws {
        store = try MigratedStore(
            Self.note(["a", "b", "c"]) + [Self.tag],
            """
            INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZA, ZB, ZC) VALUES (1, 1, 1, 'a1', 'b1', 'c1'), (2, 1, 1, 'a2', 'b2', 'c2');
            INSERT INTO ZTAG (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (5, 2, 1, 'x');
            """)
    }

    private static let tag = EntityDescription("Tag", attributes: [AttributeDescription("name", .string)])

    private static func note(_ names: [String], type: AttributeType = .string) -> [EntityDescription] {
        [EntityDescription("Note", attributes: names.map { AttributeDescription($0, type) })]
    }

    private func open(
        _ entities: [EntityDescription], defers: Bool = true, configuration: String? = nil
    ) throws -> PersistentContainer {
        var description = PersistentStoreDescription(url: store.url)
        description.defersLightweightMigration = defers
        return try PersistentContainer(
            name: "Test", managedObjectModel: ManagedObjectModel(entities: entities), storeDescription: description)
    }

    private func columns() throws -> [String] {
        try store.rows("SELECT name FROM pragma_table_info('ZNOTE') WHERE name NOT LIKE 'Z/_%' ESCAPE '/' ORDER BY 1")
    }

    private func left(_ coordinator: PersistentStoreCoordinator) -> [String: any Sendable] {
        coordinator.persistentStores[0].metadata.filter { $0.key == Self.key || $0.key.hasPrefix("FaultlineDeferred") }
    }

    private func values(_ container: PersistentContainer, _ name: String) throws -> [String?] {
        let context = container.newBackgroundContext()
        return try context.performAndWait {
            let request = FetchRequest<ManagedObject>(
                entityName: "Note", sortDescriptors: [.ascending(name)])
            return try context.fetch(request).map { $0[name] as? String }
        }
    }

    @Test("The program works before, while and after the rest is removed task by task")
    func tasks() throws {
        let container = try open(Self.note(["a"]))
        let coordinator = container.persistentStoreCoordinator
        #expect(try columns() == ["ZA", "ZB", "ZC"])
        #expect(left(coordinator)[Self.key] as? Bool == true)
        #expect(try values(container, "a") == ["a1", "a2"])
        // Objects that are fetched before the tasks are read after them.
        let context = container.newBackgroundContext()
        let notes = try context.performAndWait {
            var request = FetchRequest<ManagedObject>(entityName: "Note")
            request.includesPropertyValues = false
            return try context.fetch(request).map(\.objectID)
        }
        var tasks = 0
        while try coordinator.finishDeferredLightweightMigrationTask() {
            tasks += 1
            try context.performAndWait {
                let note = context.insertNewObject(forEntityName: "Note")
                note["a"] = "new\(tasks)"
                try context.save()
            }
        }
        #expect(tasks == 3)
        context.performAndWait {
            #expect(notes.map { context.object(with: $0)["a"] as? String } == ["a1", "a2"])
        }
        #expect(left(coordinator).isEmpty)
        #expect(try values(container, "a") == ["a1", "a2", "new1", "new2", "new3"])
        #expect(try coordinator.finishDeferredLightweightMigrationTask() == false)
        try container.close()
        try store.checkStructure(of: try ManagedObjectModel(entities: Self.note(["a"])))
        #expect(try open(Self.note(["a"])).persistentStoreCoordinator.persistentStores[0].metadata[Self.key] == nil)
    }

    @Test("The columns and tables stay listed after closing, and another migration lists more or removes all")
    func next() throws {
        try open(Self.note(["a", "b"]) + [EntityDescription("Group")]).close()
        #expect(try columns() == ["ZA", "ZB", "ZC"])
        // Another migration leaves more behind.
        var container = try open(Self.note(["a"]) + [EntityDescription("Group")])
        #expect(try columns() == ["ZA", "ZB", "ZC"])
        #expect(
            left(container.persistentStoreCoordinator)["FaultlineDeferredDrops"] as? [String]
                == ["ZNOTE.ZB", "ZNOTE.ZC", "Z_FAULTLINE_DROPPED_ZTAG"])
        try container.close()
        // One that brings a column back with another meaning does not find old values in it.
        container = try open(Self.note(["a", "b"]), defers: true)
        #expect(try values(container, "b") == [nil, nil])
        #expect(try columns() == ["ZA", "ZB"])
        try container.close()
        try store.migrate(Self.note(["a", "b", "d"]))
        #expect(try store.rows("SELECT ZA, ZB, ZD FROM ZNOTE ORDER BY 1") == ["a1|NULL|NULL", "a2|NULL|NULL"])
        #expect(try store.rows("SELECT name FROM sqlite_master WHERE name LIKE '%DROPPED%'") == [])
    }

    @Test("Everything is finished at once, and only what a migration left behind")
    func finish() throws {
        let container = try open(Self.note(["a"]))
        try store.rows("CREATE TABLE Mine (a); CREATE TABLE ZMINE (ZA)")
        try container.persistentStoreCoordinator.finishDeferredLightweightMigration()
        try container.close()
        #expect(try columns() == ["ZA"])
        #expect(try store.rows("SELECT name FROM sqlite_master WHERE name LIKE '%TAG%'") == [])
        #expect(
            try store.rows("SELECT name FROM sqlite_master WHERE name LIKE '%MINE' ORDER BY 1") == ["Mine", "ZMINE"])
    }

    @Test("Metadata that name columns of the model remove nothing")
    func damaged() throws {
        try open(Self.note(["a"])).close()
        let hex = try #require(try store.rows("SELECT hex(Z_PLIST) FROM Z_METADATA").first)
        let bytes = stride(from: 0, to: hex.count, by: 2).compactMap {
            UInt8(hex.dropFirst($0).prefix(2), radix: 16)
        }
        var list = try #require(
            PropertyListSerialization.propertyList(from: Data(bytes), format: nil) as? [String: Any])
        list["FaultlineDeferredDrops"] = ["ZNOTE.ZA", "ZNOTE.Z_PK", "ZNOTE.ZB", "Z_METADATA.Z_PLIST", "ZNOTE", "x.y"]
        let data = try PropertyListSerialization.data(fromPropertyList: list, format: .binary, options: 0)
        try store.rows("UPDATE Z_METADATA SET Z_PLIST = x'\(data.map { String(format: "%02x", $0) }.joined())'")
        let container = try open(Self.note(["a"]))
        try container.persistentStoreCoordinator.finishDeferredLightweightMigration()
        #expect(left(container.persistentStoreCoordinator).isEmpty)
        try container.close()
        #expect(try columns() == ["ZA", "ZC"])
        #expect(try store.rows("SELECT Z_PK, ZA FROM ZNOTE ORDER BY 1") == ["1|a1", "2|a2"])
    }

    @Test("A store that another program keeps locked is finished later")
    func locked() throws {
        var description = PersistentStoreDescription(url: store.url)
        (description.defersLightweightMigration, description.busyTimeout) = (true, 0)
        let container = try PersistentContainer(
            name: "Test", managedObjectModel: ManagedObjectModel(entities: Self.note(["a"])),
            storeDescription: description)
        let other = try OpenConnection(store.url)
        try other.run("BEGIN IMMEDIATE")
        #expect(
            performing { try container.persistentStoreCoordinator.finishDeferredLightweightMigration() }
                .hasPrefix("Finishing the migration of the store in '\(store.url.path)' timed out"))
        try other.run("ROLLBACK")
        #expect(try columns() == ["ZA", "ZB", "ZC"])
        try container.persistentStoreCoordinator.finishDeferredLightweightMigration()
        #expect(try columns() == ["ZA"])
    }
}
