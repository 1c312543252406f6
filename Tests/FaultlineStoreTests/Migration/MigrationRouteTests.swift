import CSQLite
import FaultlineMigration
import FaultlineModel
import FaultlineStore
import Foundation
import SharedData
import Synchronization
import Testing

@Suite("A migration is decided once")
struct MigrationRouteTests {
    /// Counts how often SQLite opens databases: its own file system, with a function in front of the one that opens files.
    private enum FileOpenings {
        private static let counts = Mutex<[String: Int]>([:])
        private nonisolated(unsafe) static let usual = sqlite3_vfs_find(nil)!
        private static let isInstalled: Bool = {
            let counting = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
            counting.initialize(to: usual.pointee)
            counting.pointee.zName = UnsafePointer(strdup("counting"))
            counting.pointee.xOpen = { _, name, file, flags, result in
                if let name, flags & SQLITE_OPEN_MAIN_DB != 0 {
                    counts.withLock { $0[String(cString: name), default: 0] += 1 }
                }
                return usual.pointee.xOpen(usual, name, file, flags, result)
            }
            return sqlite3_vfs_register(counting, 1) == SQLITE_OK
        }()

        static func count(of url: URL) -> Int {
            #expect(isInstalled)
            return counts.withLock { $0[url.path] ?? 0 }
        }
    }

    /// The work of a closure.
    private struct Work: Equatable {
        var openings = 0
        var layouts = 0
        var inferences = 0
    }

    private let models: [ManagedObjectModel]
    private let store: MigratedStore

    /// A store of the first of nine versions of a model, which lie beside one another.
    init() throws {
        let folder = try TestStore.makeFolder().appendingPathComponent("Notes.xcdatamodeld")
        models = try (1...9).map { number in
            let url = folder.appendingPathComponent("Notes \(number).xcdatamodel")
            let attributes = (1...number).map { AttributeDescription("text\($0)", .string) }
            try ManagedObjectModel(entities: [EntityDescription("Note", attributes: attributes)]).write(to: url)
            let model = try ManagedObjectModel(contentsOf: url)
            // Laid out now, the versions that the tests name do not count as work.
            _ = model.schema
            return model
        }
        store = try MigratedStore(
            models[0].entities, "INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZTEXT1) VALUES (1, 1, 1, 'one')")
    }

    private func work(on store: MigratedStore? = nil, _ body: () throws -> Void) rethrows -> Work {
        let url = (store ?? self.store).url
        let before = FileOpenings.count(of: url)
        let counts = Mutex(Work())
        try ModelWork.$observer.withValue(
            { work in
                counts.withLock {
                    switch work {
                    case .layout: $0.layouts += 1
                    case .inference: $0.inferences += 1
                    }
                }
            }, operation: body)
        var work = counts.withLock { $0 }
        work.openings = FileOpenings.count(of: url) - before
        return work
    }

    private func description(_ sources: [ManagedObjectModel] = []) -> PersistentStoreDescription {
        var description = PersistentStoreDescription(url: store.url)
        description.sourceModels = sources
        return description
    }

    @Test("One connection decides and previews, and another one migrates", arguments: [false, true])
    func shown(keepsBackup: Bool) throws {
        let backup = store.url.deletingLastPathComponent().appendingPathComponent("Backup.sqlite")
        var route: MigrationRoute?
        let deciding = try work {
            route = try MigrationRoute(reading: description(), to: models[1])
            #expect(try route?.preview()?.steps.isEmpty == false)
        }
        #expect(deciding == Work(openings: 1, layouts: 1, inferences: 1))
        let running = try work { try route?.run(backup: keepsBackup ? backup : nil) }
        #expect(running.openings == 1 && running.inferences == 0)
        #expect(try store.rows("SELECT ZTEXT1, ZTEXT2 FROM ZNOTE") == ["one|NULL"])
        #expect(FileManager.default.fileExists(atPath: backup.path) == keepsBackup)
    }

    @Test("A store that is opened is migrated by the connection that found it to be older")
    func opened() throws {
        let work = try work {
            try PersistentContainer(name: "New", managedObjectModel: models[8], storeURL: store.url).close()
        }
        #expect(work.openings == 2 && work.inferences == 1)
        #expect(try store.rows("SELECT ZTEXT1, ZTEXT9 FROM ZNOTE") == ["one|NULL"])
    }

    @Test("Each step of several is inferred once")
    func steps() throws {
        func model(_ attributes: [AttributeDescription]) throws -> ManagedObjectModel {
            try ManagedObjectModel(entities: [EntityDescription("Note", attributes: attributes)])
        }
        let name = AttributeDescription("name", .string)
        let versions = [
            try model([name, AttributeDescription("n", .string)]), try model([name]),
            try model([name, AttributeDescription("n", .integer16, defaultValue: 3)]),
        ]
        let store = try MigratedStore(versions[0].entities)
        var description = PersistentStoreDescription(url: store.url)
        description.sourceModels = versions
        let work = try work(on: store) {
            try PersistentContainer(name: "New", managedObjectModel: versions[2], storeDescription: description).close()
        }
        // A third inference finds that there is no direct step.
        #expect(work.openings == 2 && work.inferences == 3)
    }

    @Test("Each stage of a plan opens the store once")
    func stages() throws {
        var description = description(models)
        description.stagedMigrationManager = StagedMigrationManager([
            LightweightMigrationStage(models.prefix(3).map(\.versionChecksum))
        ])
        let work = try work {
            try PersistentContainer(name: "New", managedObjectModel: models[2], storeDescription: description).close()
        }
        #expect(work.openings == 4 && work.inferences == 2)
    }

    @Test("Without the store's own copy, the listed versions are tried first, and then those beside the newer one")
    func noCopy() throws {
        try store.rows("DROP TABLE Z_FAULTLINE")
        for (sources, expected) in [([models[0]], 0), ([], 1), ([models[4]], 1)] {
            let work = try work {
                _ = try #require(try MigrationRoute(reading: description(sources), to: models[8]))
            }
            #expect(work.layouts == expected)
        }
    }

    @Test(
        "The versions beside a named one are not laid out if the store's own copy tells all",
        .enabled(if: SharedData.exists, "\(SharedData.need)"))
    func copyTellsAll() throws {
        let url = try CoreDataFixture.bookmarks1.copy()
        let target = try CoreDataFixture.bookmarks3.loadModel()
        #expect(target.siblings.count { _ in true } == 5)
        _ = target.schema
        let work = try work(on: MigratedStore(url: url)) {
            _ = try #require(try MigrationRoute(reading: PersistentStoreDescription(url: url), to: target))
        }
        #expect(work.layouts == 1)
    }

    @Test("A step goes by the store's own copy of its version, also if the listed version was edited later")
    func editedVersion() throws {
        func model(_ attributes: [AttributeDescription]) throws -> ManagedObjectModel {
            try ManagedObjectModel(entities: [EntityDescription("Note", attributes: attributes)])
        }
        // Version hashes do not cover renaming identifiers.
        let versions = [
            try model([AttributeDescription("text1", .string, renamingIdentifier: "former")]),
            try model([AttributeDescription("name", .string, renamingIdentifier: "former")]),
            try model([AttributeDescription("name", .string), AttributeDescription("more", .string)]),
        ]
        var mapping = EntityMapping(
            "NoteToNote", from: "Note", to: "Note", attributeMappings: [PropertyMapping("name", .source("name"))])
        mapping.sourceEntityVersionHash = versions[1].entityVersionHashesByName["Note"]
        mapping.destinationEntityVersionHash = versions[2].entityVersionHashesByName["Note"]
        var description = description(versions)
        description.mappingModels = [MappingModel(entityMappings: [mapping])]
        #expect(try PersistentStoreCoordinator.migrateStore(description, to: versions[2]))
        #expect(try store.rows("SELECT Z_PK, ZNAME FROM ZNOTE") == ["1|NULL"])
    }
}
