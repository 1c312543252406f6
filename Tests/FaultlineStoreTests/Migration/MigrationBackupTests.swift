import FaultlineMigration
import FaultlineModel
import FaultlineRecorder
import FaultlineStore
import Foundation
import Testing

@Suite("The backup of a migrated store")
struct MigrationBackupTests {
    private static let data = AttributeDescription("data", .binary, allowsExternalBinaryDataStorage: true)
    private static let old = [EntityDescription("Note", attributes: [data])]
    private static let new = [
        EntityDescription("Note", attributes: [data, AttributeDescription("rank", .integer16, defaultValue: 1)])
    ]
    /// Required, without a default value: refused while there are objects.
    private static let refused = [
        EntityDescription("Note", attributes: [data, AttributeDescription("rank", .integer16, isOptional: false)])
    ]

    /// A store with a value in a file of its own.
    private static func makeStore() throws -> MigratedStore {
        try MigratedStore(old) { url in
            let container = try PersistentContainer(
                name: "Fill", managedObjectModel: ManagedObjectModel(entities: old), storeURL: url)
            let context = container.newBackgroundContext()
            try context.performAndWait {
                context.insertNewObject(forEntityName: "Note")["data"] = Data(repeating: 1, count: 150_000)
                try context.save()
            }
            try container.close()
        }
    }

    private static func backup(of store: MigratedStore) -> URL {
        store.url.deletingLastPathComponent().appendingPathComponent("Store.backup.sqlite")
    }

    /// Migrates with a backup, and returns the error's text.
    private static func migrate(_ store: MigratedStore, to entities: [EntityDescription] = new) -> String {
        performing {
            _ = try PersistentStoreCoordinator.migrateStore(
                PersistentStoreDescription(url: store.url), to: ManagedObjectModel(entities: entities),
                backup: backup(of: store))
        }
    }

    /// The names of the files in the store's folder, without the store's own.
    private static func files(_ store: MigratedStore) throws -> Set<String> {
        let all = try FileManager.default.contentsOfDirectory(atPath: store.url.deletingLastPathComponent().path)
        return Set(all).subtracting(["Store.sqlite", ".Store_SUPPORT"])
    }

    private static func externalFiles(_ store: MigratedStore, _ folder: String) throws -> [String] {
        let url = store.url.deletingLastPathComponent().appendingPathComponent(folder)
        #expect(try FileManager.default.contentsOfDirectory(atPath: url.path) == ["_EXTERNAL_DATA"])
        return try FileManager.default.contentsOfDirectory(atPath: url.path + "/_EXTERNAL_DATA")
    }

    @Test("has the older version, and the files of large values")
    func whole() throws {
        let store = try Self.makeStore()
        #expect(Self.migrate(store) == "no error")
        #expect(try Self.files(store) == ["Store.backup.sqlite", ".Store.backup_SUPPORT"])
        let check = "PRAGMA integrity_check; SELECT COUNT(*) FROM ZNOTE"
        #expect(try SQLShell.run(check, Self.backup(of: store)) == ["ok", "1"])
        #expect(try store.rows("SELECT ZRANK FROM ZNOTE") == ["1"])
        let names = try Self.externalFiles(store, ".Store.backup_SUPPORT")
        #expect(try names.count == 1 && names == Self.externalFiles(store, ".Store_SUPPORT"))
    }

    @Test("does not stay if the store is not migrated")
    func refusal() throws {
        let store = try Self.makeStore()
        let before = try store.dump()
        #expect(Self.migrate(store, to: Self.refused).contains("is refused"))
        #expect(try store.dump() == before)
        #expect(try Self.files(store) == [])
        #expect(Self.migrate(store) == "no error")
    }

    @Test("does not stay if there is no room for it")
    func noRoom() async {
        // Runs in a process of its own, whose files cannot grow beyond 64 KiB.
        await #expect(processExitsWith: .success) {
            let store = try Self.makeStore()
            for key in 2...9 {
                try store.rows("INSERT INTO ZNOTE VALUES (\(key), 1, 1, CAST(x'01' || zeroblob(20000) AS BLOB))")
            }
            let before = try store.dump()
            signal(SIGXFSZ, SIG_IGN)
            var limit = rlimit(rlim_cur: 1 << 16, rlim_max: rlim_t.max)
            #expect(setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
            let reason = "'\(store.url.path)' cannot be copied to '\(Self.backup(of: store).path)' ("
            #expect(Self.migrate(store).hasPrefix(reason))
            limit.rlim_cur = rlim_t.max
            #expect(setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
            #expect(try store.dump() == before)
            #expect(try Self.files(store) == [])
        }
    }

    @Test("replaces nothing", arguments: ["Store.backup.sqlite", ".Store.backup_SUPPORT"], [false, true])
    func taken(name: String, isLink: Bool) throws {
        let store = try Self.makeStore()
        let path = store.url.deletingLastPathComponent().appendingPathComponent(name).path
        if isLink {
            try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "nowhere")
        } else {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        }
        #expect(
            Self.migrate(store)
                == "The copy of '\(store.url.path)' would replace '\(path)'; move that away first.")
        #expect(try Self.files(store) == [name])
    }

    @Test("removes what a killed migration left, and nothing else")
    func leftovers() throws {
        let store = try Self.makeStore()
        let folder = store.url.deletingLastPathComponent()
        let id = UUID().uuidString
        let (made, others) = (
            [".Store.backup.sqlite.migration-\(id)", ".Store.backup.sqlite.migration-\(id)-journal"],
            [
                ".Store.backup.sqlite.migration-notes", "own.sqlite",
                ".Store.backup.sqlite.migration-\(UUID().uuidString)",
            ]
        )
        for name in made + others.dropLast() { try Data("x".utf8).write(to: folder.appendingPathComponent(name)) }
        let link = folder.appendingPathComponent(others[2])
        try FileManager.default.createSymbolicLink(atPath: link.path, withDestinationPath: "own.sqlite")
        // Killed between the folder's new name and that of the database.
        let support = folder.appendingPathComponent(".Store.backup_SUPPORT")
        try FileManager.default.createDirectory(at: support, withIntermediateDirectories: false)
        try Data().write(to: support.appendingPathComponent(made[0]))
        try Data().write(to: support.appendingPathComponent("old"))
        #expect(Self.migrate(store) == "no error")
        #expect(try Self.files(store) == Set(others + ["Store.backup.sqlite", ".Store.backup_SUPPORT"]))
        #expect(try Data(contentsOf: folder.appendingPathComponent("own.sqlite")) == Data("x".utf8))
        #expect(try Self.externalFiles(store, ".Store.backup_SUPPORT").count == 1)
    }
}
