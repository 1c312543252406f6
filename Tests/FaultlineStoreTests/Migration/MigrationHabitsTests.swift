import FaultlineMigration
import FaultlineModel
import FaultlineStore
import Foundation
import Testing

@Suite("Migrations that programs do every day leave the store as the program expects it")
struct MigrationHabitsTests {
    private let name = AttributeDescription("name", .string)
    private let text = AttributeDescription("text", .string)

    private func note(_ attributes: AttributeDescription..., unique: [[String]] = []) -> [EntityDescription] {
        [EntityDescription("Note", attributes: attributes, uniquenessConstraints: unique)]
    }

    private static let three =
        "INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZTEXT) VALUES (1, 1, 1, 'a'), (2, 1, 1, 'a'), (3, 1, 1, 'b')"

    // MARK: - Several models

    @Test("A store of the models of several libraries follows when one of them changes")
    func mergedModels() throws {
        // Each library has a model of its own, and the program opens one store with the entities of both.
        let (notes, songs) = (note(text), [EntityDescription("Song", attributes: [name])])
        let store = try MigratedStore(
            notes + songs, Self.three + "; INSERT INTO ZSONG (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (1, 2, 1, 'c')")
        let rank = AttributeDescription("rank", .integer16, defaultValue: 4)
        // The source is found although no library has a model with the entities of both.
        try store.migrate(notes + [EntityDescription("Song", attributes: [name, rank])]) {
            $0.sourceModels = [notes, songs].compactMap { try? ManagedObjectModel(entities: $0) }
        }
        #expect(try store.rows("SELECT ZNAME, ZRANK FROM ZSONG") == ["c|4"])
        #expect(try store.rows("SELECT ZTEXT FROM ZNOTE ORDER BY Z_PK") == ["a", "a", "b"])
        // A program without one of the libraries would lose its objects: the entity is named.
        #expect(
            try store.refusal(note(text, rank)) { $0.shouldInferMappingModelAutomatically = false }
                .contains("the entity 'Song' was removed"))
    }

    // MARK: - Uniqueness

    @Test("After a uniqueness constraint is removed, two objects can have the same value")
    func removedUniqueness() throws {
        let store = try MigratedStore(
            note(text, unique: [["text"]]), "INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZTEXT) VALUES (1, 1, 1, 'a')")
        let context = try store.migrate(note(text)).newBackgroundContext()
        try context.performAndWait {
            context.insertNewObject(forEntityName: "Note")["text"] = "a"
            try context.save()
        }
        #expect(try store.rows("SELECT Z_PK, ZTEXT FROM ZNOTE ORDER BY 1") == ["1|a", "2|a"])
    }

    @Test("A constraint is checked over all tables that become one, and the refusal names the object")
    func uniquenessOfMergedTables() throws {
        func places(_ parent: String?) -> [EntityDescription] {
            let own = parent == nil ? [name] : []
            let place = EntityDescription(
                "Place", isAbstract: true, attributes: [name], uniquenessConstraints: [["name"]])
            return [
                EntityDescription("City", parent: parent, attributes: own),
                EntityDescription("River", parent: parent, attributes: own),
            ] + (parent == nil ? [] : [place])
        }
        let store = try MigratedStore(
            places(nil),
            """
            INSERT INTO ZCITY VALUES (1, 1, 1, 'Bonn');
            INSERT INTO ZRIVER VALUES (1, 2, 1, 'Rhine'), (7, 2, 1, 'Bonn');
            """)
        let refusal = try store.refusal(places("Place"))
        #expect(refusal.hasPrefix("Migrating STORE is refused: "))
        #expect(refusal.contains(".name' must be unique now, but another object has the same values as the "))
        #expect(refusal.contains("the River object with the primary key 7"))
        try store.rows("UPDATE ZRIVER SET ZNAME = 'Elbe' WHERE Z_PK = 7")
        try store.migrate(places("Place"))
        #expect(
            try store.rows("SELECT Z_PK, Z_ENT, ZNAME FROM ZPLACE ORDER BY 1")
                == ["1|2|Bonn", "2|3|Rhine", "8|3|Elbe"])
    }

    @Test("A handler that deletes duplicates makes a new uniqueness constraint possible")
    func deletedDuplicates() throws {
        let old = try ManagedObjectModel(entities: note(text))
        let new = try ManagedObjectModel(entities: note(text, unique: [["text"]]))
        let store = try MigratedStore(old.entities, Self.three)
        #expect(
            try store.refusal(new.entities).hasPrefix("Migrating STORE is refused: 'Note.text' must be unique now"))
        var stage = CustomMigrationStage(
            migratingFrom: ManagedObjectModelReference(old), to: ManagedObjectModelReference(new))
        stage.willMigrateHandler = { manager, _ in
            let context = try #require(manager.container?.newBackgroundContext())
            try context.performAndWait {
                var seen: Set<String> = []
                for note in Array(try context.fetch(FetchRequest<ManagedObject>(entityName: "Note"))) {
                    guard let text = note["text"] as? String, !seen.insert(text).inserted else { continue }
                    context.delete(note)
                }
                try context.save()
            }
        }
        try store.migrate(to: new) { $0.stagedMigrationManager = StagedMigrationManager([stage]) }
        #expect(try store.rows("SELECT ZTEXT FROM ZNOTE ORDER BY 1") == ["a", "b"])
        #expect(
            performing {
                try store.rows("INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZTEXT) VALUES (9, 1, 1, 'b')")
            }.contains("UNIQUE constraint failed"))
    }

    // MARK: - Versions

    @Test("Changes of rules, classes and validation leave a store with objects as it is")
    func invisibleChanges() throws {
        func model(_ change: (inout EntityDescription) -> Void = { _ in }) throws -> ManagedObjectModel {
            var author = EntityDescription(
                "Author", attributes: [name, AttributeDescription("image", .transformable, valueTransformerName: "A")],
                relationships: [RelationshipDescription("books", to: "Book", inverse: "author", isToMany: true)])
            change(&author)
            return try ManagedObjectModel(entities: [
                author,
                EntityDescription(
                    "Book", relationships: [RelationshipDescription("author", to: "Author", inverse: "books")]),
            ])
        }
        let store = try MigratedStore(
            model().entities,
            """
            INSERT INTO ZAUTHOR (Z_PK, Z_ENT, Z_OPT, ZNAME, ZIMAGE) VALUES (1, 1, 1, 'a', x'0102');
            INSERT INTO ZBOOK (Z_PK, Z_ENT, Z_OPT, ZAUTHOR) VALUES (1, 2, 1, 1);
            """)
        let before = try store.dump()
        let changes: [(inout EntityDescription) -> Void] = [
            { $0.relationships[0].deleteRule = .cascade }, { $0.managedObjectClassName = "Writer" },
            { $0.attributes[1].valueTransformerName = "B" }, { $0.attributes[1].attributeValueClassName = "Image" },
            { $0.attributes[0].regularExpression = "[A-Z]+" }, { $0.attributes[0].minimumValue = 3 },
        ]
        for change in changes {
            var description = PersistentStoreDescription(url: store.url)
            description.shouldMigrateStoreAutomatically = false
            let container = try PersistentContainer(
                name: "New", managedObjectModel: model(change), storeDescription: description)
            #expect(try store.dump() == before)
            let context = container.newBackgroundContext()
            let found = try context.performAndWait {
                try context.fetch(FetchRequest<ManagedObject>(entityName: "Author")).map { $0["name"] as? String }
            }
            #expect(found == ["a"])
            try container.close()
        }
    }

    @Test("A model with a composite attribute is refused")
    func composite() throws {
        let store = try MigratedStore(note(text), Self.three)
        #expect(
            try store.refusal(note(text, AttributeDescription("place", .composite)))
                == "The store STORE does not support 'Note.place', a composite attribute; make its parts separate attributes in the model."
        )
    }

    @Test("A stage goes through each of its versions, so a name that changes twice keeps its values")
    func renamedTwice() throws {
        let versions = try [
            AttributeDescription("a", .string), AttributeDescription("b", .string, renamingIdentifier: "a"),
            AttributeDescription("c", .string, renamingIdentifier: "b"),
        ].map { try ManagedObjectModel(entities: note($0)) }
        let rows = "INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZA) VALUES (1, 1, 1, 'x'), (2, 1, 1, NULL)"
        let store = try MigratedStore(versions[0].entities, rows)
        try store.migrate(to: versions[2]) {
            $0.sourceModels = versions
            $0.stagedMigrationManager = StagedMigrationManager([
                LightweightMigrationStage(versions.map(\.versionChecksum))
            ])
        }
        #expect(try store.rows("SELECT Z_PK, ZC FROM ZNOTE ORDER BY 1") == ["1|x", "2|NULL"])
        // One inferred step knows only the name of the version before.
        let direct = try MigratedStore(versions[0].entities, rows)
        try direct.migrate(to: versions[2])
        #expect(try direct.rows("SELECT Z_PK, ZC FROM ZNOTE ORDER BY 1") == ["1|NULL", "2|NULL"])
    }

    // MARK: - Files

    @Test("Saves that are only in the write-ahead log are migrated object by object too")
    func writeAheadLog() throws {
        let store = try MigratedStore(note(text), Self.three)
        let copy = try TestStore.makeFolder().appendingPathComponent("Copy.sqlite")
        let other = try OpenConnection(store.url)
        try other.run("PRAGMA wal_autocheckpoint=0")
        try other.run("INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZTEXT) VALUES (9, 1, 1, 'late')")
        // The copy of a store whose program was killed.
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: store.url.path + suffix, toPath: copy.path + suffix)
        }
        withExtendedLifetime(other) {}
        let log = URL(fileURLWithPath: copy.path + "-wal")
        // The header of a log has numbers that no other log has.
        let header = try Data(contentsOf: log).prefix(32)
        #expect(header.count == 32)
        let migrated = MigratedStore(url: copy)
        let container = try migrated.migrate(note(text, AttributeDescription("rank", .integer16, defaultValue: 1))) {
            $0.mappingModels = [
                MappingModel(entityMappings: [
                    EntityMapping(
                        "Note", .custom, from: "Note", to: "Note",
                        attributeMappings: [PropertyMapping("text", .source("text"))],
                        entityMigrationPolicyClassName: "CopyingPolicy")
                ])
            ]
            $0.migrationPolicies = [CopyingPolicy.self]
        }
        #expect((try? Data(contentsOf: log))?.prefix(32) != header)
        #expect(
            try migrated.rows("SELECT Z_PK, ZTEXT, ZRANK FROM ZNOTE ORDER BY 1")
                == ["1|a|1", "2|a|1", "3|b|1", "9|late|1"])
        try container.close()
        let names = try FileManager.default.contentsOfDirectory(atPath: copy.deletingLastPathComponent().path)
        #expect(names.filter { $0.contains("migration-") } == [])
        #expect(try migrated.rows("SELECT COUNT(*) FROM ZNOTE") == ["4"])
    }

    @Test("Each store of a container is migrated with the entities of its configuration")
    func severalStores() throws {
        func model(_ more: [AttributeDescription] = []) throws -> ManagedObjectModel {
            try ManagedObjectModel(
                entities: ["Log", "User"].map { EntityDescription($0, attributes: [name] + more) },
                configurations: [
                    ConfigurationDescription("Logs", entities: ["Log"]),
                    ConfigurationDescription("Users", entities: ["User"]),
                ])
        }
        let folder = try TestStore.makeFolder()
        let descriptions = ["Logs", "Users"].map { name in
            var description = PersistentStoreDescription(url: folder.appendingPathComponent("\(name).sqlite"))
            description.configuration = name
            return description
        }
        let old = try PersistentContainer(name: "Old", managedObjectModel: model(), storeDescriptions: descriptions)
        let filling = old.newBackgroundContext()
        try filling.performAndWait {
            filling.insertNewObject(forEntityName: "Log")["name"] = "a"
            filling.insertNewObject(forEntityName: "User")["name"] = "b"
            try filling.save()
        }
        try old.close()
        let new = try PersistentContainer(
            name: "New", managedObjectModel: model([AttributeDescription("n", .integer16, defaultValue: 2)]),
            storeDescriptions: descriptions)
        #expect(try SQLShell.run("SELECT ZNAME, ZN FROM ZLOG", descriptions[0].url) == ["a|2"])
        #expect(try SQLShell.run("SELECT ZNAME, ZN FROM ZUSER", descriptions[1].url) == ["b|2"])
        let tables = "SELECT name FROM sqlite_master WHERE name IN ('ZLOG', 'ZUSER')"
        #expect(try descriptions.flatMap { try SQLShell.run(tables, $0.url) } == ["ZLOG", "ZUSER"])
        let context = new.newBackgroundContext()
        let found = try context.performAndWait {
            var names: [String?] = []
            for entity in ["Log", "User"] {
                names += try context.fetch(FetchRequest<ManagedObject>(entityName: entity)).map {
                    $0["name"] as? String
                }
            }
            return names
        }
        #expect(found == ["a", "b"])
    }
}
