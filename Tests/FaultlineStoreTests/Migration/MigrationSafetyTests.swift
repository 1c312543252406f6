import FaultlineModel
import FaultlineRecorder
import Foundation
import SharedData
import Testing

@testable import FaultlineMigration
@testable import FaultlineStore

@Suite("A migration either happens as a whole or not at all")
struct MigrationSafetyTests {
    private let name = AttributeDescription("name", .string)

    private func old(_ count: Int = 3) throws -> MigratedStore {
        try MigratedStore(
            [EntityDescription("Note", attributes: [name])],
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count)) INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZNAME) SELECT i, 1, 1, 'n' || i FROM n"
        )
    }

    private var new: [EntityDescription] {
        [EntityDescription("Note", attributes: [name, AttributeDescription("rank", .integer16, defaultValue: 1)])]
    }

    @Test("Without the option, a store of an older version is refused with the differences")
    func optionOff() throws {
        for option in [
            \PersistentStoreDescription.shouldMigrateStoreAutomatically, \.shouldInferMappingModelAutomatically,
        ] {
            #expect(
                try old().refusal(new) { $0[keyPath: option] = false }
                    == "The store STORE was written with another version of the model; since then, the attribute 'Note.rank' was added; open it with the version that it was written with, or migrate it."
            )
        }
    }

    @Test("A store that is opened read-only, as one that a program ships with, is never migrated")
    func readOnly() throws {
        #expect(
            try old().refusal(new) { $0.isReadOnly = true }
                == "The store STORE was written with another version of the model; since then, the attribute 'Note.rank' was added; open it with the version that it was written with, or open it writable once, so that it is migrated."
        )
        // The file cannot be written either.
        let store = try old()
        try FileManager.default.setAttributes([.posixPermissions: 0o444], ofItemAtPath: store.url.path)
        #expect(
            try store.refusal(new) { $0.isReadOnly = true }.hasSuffix("open it writable once, so that it is migrated."))
    }

    @Test("A model that has nothing in common with the store is refused while there are objects")
    func unrelated() throws {
        #expect(
            try old().refusal([EntityDescription("Song")])
                == "Migrating STORE is refused because the model has none of the store's entities ('Note'), so all objects would be removed; open it with a version of the model that it was written with."
        )
        try MigratedStore([EntityDescription("Note")]).migrate([EntityDescription("Song")])
    }

    @Test("While another connection has the store open, it is refused")
    func otherConnection() throws {
        let store = try old()
        let other = try OpenConnection(store.url)
        try other.run("SELECT * FROM ZNOTE")
        #expect(
            try store.refusal(new) { $0.busyTimeout = 0.1 }
                == "Migrating the store in STORE timed out after 0.1 s because another connection holds the store's lock; let it finish, or raise busyTimeout."
        )
        withExtendedLifetime(other) {}
    }

    /// Two programs that opened an older store at once waited for each other: a migration kept its lock for reading while
    /// it waited, and the other program waited for all such locks before it could go on.
    @Test("A migration that cannot lock the store does not keep others from completing their writes")
    func noLockWhileWaiting() throws {
        let store = try old()
        let other = try OpenConnection(store.url)
        try other.run("PRAGMA journal_mode=delete; BEGIN IMMEDIATE; UPDATE ZNOTE SET ZNAME = 'x'")
        var description = PersistentStoreDescription(url: store.url)
        description.busyTimeout = 0
        let session = try StoreOpening.connect(description, recorder: .memory(), log: SQLDebugLog(level: 0))
        defer { session.connection.close() }
        let setup = StoreSetup(session, path: description.path)
        #expect(throws: StoreError.self) { try setup.lock() }
        try other.run("COMMIT")
        try setup.lock()
        #expect(throws: SQLShell.Failure.self) { try other.run("SELECT * FROM ZNOTE") }
    }

    @Test("A store that another program returned to the write-ahead log is locked only once it left the log again")
    func returnedToLog() throws {
        let store = try old()
        let other = try OpenConnection(store.url)
        var description = PersistentStoreDescription(url: store.url)
        description.busyTimeout = 10
        var attempts = 0
        let setup = try StoreOpening.soleSession(description, .memory(), SQLDebugLog(level: 0)) {
            (setup) throws(StoreError) in
            attempts += 1
            if attempts == 1 { #expect(throws: Never.self) { try other.run("PRAGMA journal_mode=wal") } }
            try setup.lock()
        }
        defer { setup.session.connection.close() }
        #expect(attempts == 2 && !setup.session.connection.hasWriteAheadLog)
        #expect(throws: SQLShell.Failure.self) { try other.run("SELECT * FROM ZNOTE") }
    }

    @Test("Saves that are only in the write-ahead log are migrated too")
    func writeAheadLog() throws {
        let store = try old()
        let copy = try TestStore.makeFolder().appendingPathComponent("Copy.sqlite")
        let other = try OpenConnection(store.url)
        try other.run("PRAGMA wal_autocheckpoint=0")
        try other.run("INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (9, 1, 1, 'late')")
        // The copy of a store whose program was killed.
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: store.url.path + suffix, toPath: copy.path + suffix)
        }
        let log = try FileManager.default.attributesOfItem(atPath: copy.path + "-wal")[.size] as? Int
        #expect(try #require(log) > 0)
        try MigratedStore(url: copy).migrate(new)
        #expect(try SQLShell.run("SELECT ZNAME, ZRANK FROM ZNOTE WHERE Z_PK = 9", copy) == ["late|1"])
        withExtendedLifetime(other) {}
    }

    @Test(
        "A store with Core Data's history is refused unless nothing reads the history",
        .enabled(if: SharedData.exists, "\(SharedData.need)"))
    func history() throws {
        let url = try CoreDataFixture.books.copy()
        #expect(try SQLShell.run("SELECT name FROM sqlite_master WHERE name = 'ATRANSACTION'", url) == ["ATRANSACTION"])
        let model = try CoreDataFixture.books.loadModel()
        let more = model.entities + [EntityDescription("Aardvark")]
        var description = PersistentStoreDescription(url: url)
        description.sourceModels = [model]
        let text = performing {
            _ = try PersistentContainer(
                name: "New", managedObjectModel: ManagedObjectModel(entities: more), storeDescription: description)
        }
        #expect(
            text
                == "Migrating '\(url.path)' is refused because the store keeps a history of its changes (table ATRANSACTION), in which this one would be missing; set tracksPersistentHistory, or ignoresPersistentHistory if nothing reads the history."
        )
        description.ignoresPersistentHistory = true
        let books = try SQLShell.run("SELECT Z_PK, ZTITLE FROM ZBOOK ORDER BY 1", url)
        let changes = try SQLShell.run(
            "SELECT p.Z_NAME, COUNT(*) FROM ACHANGE c JOIN Z_PRIMARYKEY p ON p.Z_ENT = c.ZENTITY GROUP BY 1", url)
        let store = MigratedStore(url: url)
        try store.migrate(more) { $0 = description }
        #expect(try store.rows("SELECT Z_PK, ZTITLE FROM ZBOOK ORDER BY 1") == books)
        #expect(
            try store.rows(
                "SELECT p.Z_NAME, COUNT(*) FROM ACHANGE c JOIN Z_PRIMARYKEY p ON p.Z_ENT = c.ZENTITY GROUP BY 1")
                == changes)
        #expect(!books.isEmpty && !changes.isEmpty)
        // The history of a removed entity goes with it, because its number becomes another entity's.
        var rest = more.filter { $0.name != "Feedback" }
        for index in rest.indices {
            rest[index].relationships.removeAll { $0.destination == "Feedback" }
            rest[index].fetchedProperties = []
        }
        try store.migrate(rest) { $0 = description }.close()
        let (known, all) = (
            "SELECT p.Z_NAME, COUNT(*) FROM ACHANGE c JOIN Z_PRIMARYKEY p ON p.Z_ENT = c.ZENTITY GROUP BY 1",
            "SELECT COUNT(*) FROM ACHANGE"
        )
        #expect(changes.contains { $0.hasPrefix("Feedback|") })
        #expect(try store.rows(known) == changes.filter { !$0.hasPrefix("Feedback|") })
        #expect(
            try store.rows(
                "SELECT SUM(n) FROM (SELECT COUNT(*) n FROM ACHANGE c JOIN Z_PRIMARYKEY p ON p.Z_ENT = c.ZENTITY)")
                == store.rows(all))
        // Saves are refused as before.
        description.ignoresPersistentHistory = false
        let context = try PersistentContainer(
            name: "New", managedObjectModel: ManagedObjectModel(entities: rest), storeDescription: description
        ).newBackgroundContext()
        let saving = performing {
            try context.performAndWait {
                _ = context.insertNewObject(forEntityName: "Aardvark")
                try context.save()
            }
        }
        #expect(saving.contains("table ATRANSACTION"))
    }

    @Test(
        "A version with a relationship for which a store has no column comes last",
        .enabled(if: SharedData.exists, "\(SharedData.need)"))
    func relationshipWithoutInverse() throws {
        func liking(_ model: ManagedObjectModel, _ more: [AttributeDescription] = []) throws -> ManagedObjectModel {
            var entities = model.entities
            let person = try #require(entities.firstIndex { $0.name == "Person" })
            entities[person].relationships.append(
                RelationshipDescription("likes", to: "Car", inverse: nil, isToMany: true))
            entities[person].attributes += more
            return try ManagedObjectModel(entities: entities)
        }
        func migrate(_ sources: [ManagedObjectModel], to model: ManagedObjectModel) throws -> String {
            let store = MigratedStore(url: try CoreDataFixture.sample1.copy())
            try store.rows("UPDATE Z_MODELCACHE SET Z_CONTENT = NULL")
            var description = PersistentStoreDescription(url: store.url)
            description.sourceModels = sources
            var found: [String] = []
            for work in [
                { _ = try MigrationRoute(reading: description, to: model)?.preview() },
                { _ = try PersistentStoreCoordinator.migrateStore(description, to: model) },
            ] as [() throws -> Void] {
                found.append(performing(work).replacing(store.url.path, with: "STORE"))
            }
            return found[0] == found[1] ? found[0] : "\(found)"
        }
        let old = try CoreDataFixture.sample1.loadModel()
        // Without a file, so that no versions are beside it.
        let new = try ManagedObjectModel(entities: CoreDataFixture.sample2.loadModel().entities)
        let others = [try liking(old), try liking(old, [AttributeDescription("nickname", .string)]), try liking(new)]
        #expect(try migrate(others + [old], to: new) == "no error")
        // A store that lacks the column has no members, and a newer version gets one.
        #expect(try migrate([old], to: liking(new)) == "no error")
        #expect(try migrate(others, to: new) == "no error")
        #expect(try migrate(others, to: liking(new)) == "no error")
    }

    @Test("A failure in the middle leaves the store as it was")
    func failure() throws {
        // The trigger is made again at the end, and its table is gone by then.
        let store = try MigratedStore(
            [EntityDescription("Note", attributes: [name]), EntityDescription("Old", attributes: [name])],
            "INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (1, 1, 1, 'a')")
        try store.rows("CREATE TRIGGER mine AFTER INSERT ON ZOLD BEGIN DELETE FROM ZNOTE; END")
        #expect(
            try store.refusal(new)
                == "Preparing \"CREATE TRIGGER mine AFTER INSERT ON ZOLD BEGIN DELETE FROM ZNOTE; END\" in STORE failed: SQLite reports \"no such table: main.ZOLD\" (code 1)."
        )
        #expect(try store.rows("SELECT * FROM ZNOTE") == ["1|1|1|a"])
    }

    @Test("A binary store is migrated, and its file replaced as a whole")
    func binary() throws {
        let url = try TestStore.makeFolder().appendingPathComponent("Store.binary")
        let description = PersistentStoreDescription(url: url, type: .binary)
        let model = try ManagedObjectModel(entities: [EntityDescription("Note", attributes: [name])])
        let context = try PersistentContainer(name: "Old", managedObjectModel: model, storeDescription: description)
            .newBackgroundContext()
        try context.performAndWait {
            context.insertNewObject(forEntityName: "Note")["name"] = "a"
            try context.save()
        }
        let migrated = try PersistentContainer(
            name: "New", managedObjectModel: ManagedObjectModel(entities: new), storeDescription: description
        ).newBackgroundContext()
        try migrated.performAndWait {
            let note = try #require(try migrated.fetch(FetchRequest<ManagedObject>(entityName: "Note")).first)
            #expect(note["name"] as? String == "a" && note["rank"] as? Int64 == 1)
        }
    }
}
