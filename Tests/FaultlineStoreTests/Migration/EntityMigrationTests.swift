import FaultlineMigration
import FaultlineModel
import FaultlineStore
import Foundation
import Testing

@Suite("Entities change with a model's version, and their objects follow")
struct EntityMigrationTests {
    private let name = AttributeDescription("name", .string)

    /// Entities by number: 1 Animal, 2 Cat, 3 Dog, 4 House, 5 Owner.
    private func animals(
        animal: [AttributeDescription] = [AttributeDescription("name", .string)],
        cat: [AttributeDescription] = [AttributeDescription("lives", .integer16)],
        dog: [AttributeDescription] = [
            AttributeDescription("lives", .integer16), AttributeDescription("tricks", .string),
        ],
        isAbstract: Bool = false
    ) -> [EntityDescription] {
        [
            EntityDescription(
                "Animal", isAbstract: isAbstract, attributes: animal,
                relationships: [RelationshipDescription("owner", to: "Owner", inverse: "pets")]),
            EntityDescription("Cat", parent: "Animal", attributes: cat),
            EntityDescription("Dog", parent: "Animal", attributes: dog), EntityDescription("House"),
            EntityDescription(
                "Owner",
                relationships: [
                    RelationshipDescription("pets", to: "Animal", inverse: "owner", isToMany: true),
                    RelationshipDescription("favorite", to: "Animal", inverse: nil),
                ]),
        ]
    }

    private static let rows = """
        INSERT INTO ZANIMAL (Z_PK, Z_ENT, Z_OPT, ZNAME, ZLIVES, ZLIVES1, ZTRICKS, ZOWNER) VALUES
        (1, 2, 1, 'Tom', 9, NULL, NULL, 1), (2, 3, 1, 'Rex', NULL, 1, 'sit', 1), (3, 2, 1, 'Kit', 7, NULL, NULL, NULL);
        INSERT INTO ZOWNER (Z_PK, Z_ENT, Z_OPT, ZFAVORITE, Z1_FAVORITE) VALUES (1, 5, 1, 2, 3), (2, 5, 1, 1, 2);
        """

    @Test("New entities are empty and shift the numbers of the others, and nothing else changes")
    func added() throws {
        let store = try MigratedStore(animals(), Self.rows)
        let container = try store.migrate(
            animals() + [EntityDescription("Aardvark", parent: "Animal"), EntityDescription("A")])
        #expect(try store.rows("SELECT Z_PK, Z_ENT, ZNAME FROM ZANIMAL") == ["1|4|Tom", "2|5|Rex", "3|4|Kit"])
        #expect(try store.rows("SELECT Z_PK, ZFAVORITE, Z2_FAVORITE FROM ZOWNER") == ["1|2|5", "2|1|4"])
        let context = container.newBackgroundContext()
        try context.performAndWait {
            context.insertNewObject(forEntityName: "Aardvark")["name"] = "Arthur"
            try context.save()
        }
        #expect(try store.rows("SELECT Z_PK, Z_ENT FROM ZANIMAL WHERE ZNAME = 'Arthur'") == ["4|3"])
    }

    @Test("A removed entity's objects go, and references to them become empty")
    func removed() throws {
        let store = try MigratedStore(animals(), Self.rows)
        try store.migrate(animals().filter { $0.name != "Dog" && $0.name != "House" })
        #expect(try store.rows("SELECT Z_PK, Z_ENT, ZNAME, ZLIVES FROM ZANIMAL") == ["1|2|Tom|9", "3|2|Kit|7"])
        #expect(try store.rows("SELECT Z_PK, ZFAVORITE, Z1_FAVORITE FROM ZOWNER") == ["1|NULL|NULL", "2|1|2"])
        #expect(try store.rows("SELECT name FROM sqlite_master WHERE name = 'ZHOUSE'") == [])
    }

    @Test("A removed entity that a required relationship refers to is refused while there are references")
    func removedDestination() throws {
        func model(_ entities: [EntityDescription]) -> [EntityDescription] {
            entities + [
                EntityDescription(
                    "Visit",
                    relationships: [
                        RelationshipDescription("animal", to: "Animal", inverse: nil, isOptional: false)
                    ])
            ]
        }
        let store = try MigratedStore(
            model(animals()),
            Self.rows + "INSERT INTO ZVISIT (Z_PK, Z_ENT, Z_OPT, ZANIMAL, Z1_ANIMAL) VALUES (4, 6, 1, 2, 3)")
        #expect(
            try store.refusal(model(animals().filter { $0.name != "Dog" }))
                == "Migrating STORE is refused: 'Visit.animal' is required, but the object that the Visit object with the primary key 4 refers to does not remain; delete the objects in the older version first, or make the relationship optional."
        )
    }

    @Test("A renamed entity keeps its objects, with its table or within another one's")
    func renamed() throws {
        let store = try MigratedStore(animals(), Self.rows)
        var entities = animals()
        entities[2] = EntityDescription(
            "Hound", parent: "Animal", attributes: entities[2].attributes, renamingIdentifier: "Dog")
        entities[3] = EntityDescription("Home", renamingIdentifier: "House")
        try store.rows("INSERT INTO ZHOUSE (Z_PK, Z_ENT, Z_OPT) VALUES (7, 4, 2)")
        try store.migrate(entities)
        #expect(try store.rows("SELECT Z_PK, Z_ENT, ZNAME, ZTRICKS FROM ZANIMAL WHERE Z_PK = 2") == ["2|3|Rex|sit"])
        #expect(try store.rows("SELECT * FROM ZHOME") == ["7|4|2"])
    }

    @Test("A stray renaming identifier does not take the objects of an entity that still exists")
    func strayIdentifier() throws {
        let store = try MigratedStore(
            [EntityDescription("A"), EntityDescription("B", renamingIdentifier: "x")],
            "INSERT INTO ZB (Z_PK, Z_ENT, Z_OPT) VALUES (1, 2, 1)")
        try store.migrate([EntityDescription("B"), EntityDescription("C", renamingIdentifier: "B")])
        #expect(try store.rows("SELECT Z_PK, Z_ENT FROM ZB") == ["1|1"])
    }

    @Test("An entity becomes abstract if it has no objects of its own, and concrete again")
    func abstract() throws {
        let store = try MigratedStore(animals(), Self.rows)
        try store.migrate(animals(isAbstract: true))
        try store.migrate(animals())
        #expect(try store.rows("SELECT COUNT(*) FROM ZANIMAL") == ["3"])
        try store.rows("INSERT INTO ZANIMAL (Z_PK, Z_ENT, Z_OPT) VALUES (8, 1, 1)")
        #expect(
            try store.refusal(animals(isAbstract: true))
                == "Migrating STORE is refused: the entity 'Animal' becomes abstract, but there is the Animal object with the primary key 8; delete the objects or turn them into objects of a subentity in the older version first."
        )
    }

    @Test("An attribute that moves up draws from each subentity's own column, and has its default elsewhere")
    func movedUp() throws {
        let store = try MigratedStore(
            animals(), Self.rows + "INSERT INTO ZANIMAL (Z_PK, Z_ENT, Z_OPT) VALUES (8, 1, 1)")
        try store.migrate(
            animals(
                animal: [name, AttributeDescription("lives", .integer16, defaultValue: 0)], cat: [],
                dog: [AttributeDescription("tricks", .string)]))
        #expect(
            try store.rows("SELECT Z_PK, ZLIVES, ZTRICKS FROM ZANIMAL") == [
                "1|9|NULL", "2|1|sit", "3|7|NULL", "8|0|NULL",
            ])
    }

    @Test("An attribute that moves down stays with its new owners")
    func movedDown() throws {
        let store = try MigratedStore(animals(), Self.rows)
        try store.migrate(
            animals(
                animal: [], cat: [AttributeDescription("lives", .integer16)],
                dog: [name, AttributeDescription("lives", .integer16), AttributeDescription("tricks", .string)]))
        #expect(try store.rows("SELECT Z_PK, ZNAME FROM ZANIMAL") == ["1|NULL", "2|Rex", "3|NULL"])
    }

    @Test("A new parent above an entity takes its table, and two entities that get one have distinct keys")
    func newParent() throws {
        func city(_ parent: String?) -> [EntityDescription] {
            [
                EntityDescription("City", parent: parent, attributes: parent == nil ? [name] : []),
                EntityDescription("River", parent: parent, attributes: parent == nil ? [name] : []),
                EntityDescription(
                    "Trip",
                    relationships: [
                        RelationshipDescription("start", to: "City", inverse: nil),
                        RelationshipDescription("along", to: "River", inverse: nil),
                    ]),
            ] + (parent == nil ? [] : [EntityDescription("Place", isAbstract: true, attributes: [name])])
        }
        let store = try MigratedStore(
            city(nil),
            """
            INSERT INTO ZCITY (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (1, 1, 1, 'Bonn'), (4, 1, 1, 'Ulm');
            INSERT INTO ZRIVER (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (1, 2, 1, 'Rhine'), (2, 2, 1, 'Danube');
            INSERT INTO ZTRIP (Z_PK, Z_ENT, Z_OPT, ZSTART, ZALONG) VALUES (1, 3, 1, 4, 2);
            """)
        let container = try store.migrate(city("Place"))
        #expect(
            try store.rows("SELECT Z_PK, Z_ENT, ZNAME FROM ZPLACE") == [
                "1|2|Bonn", "4|2|Ulm", "5|3|Rhine", "6|3|Danube",
            ])
        #expect(try store.rows("SELECT ZSTART, ZALONG FROM ZTRIP") == ["4|6"])
        let context = container.newBackgroundContext()
        try context.performAndWait {
            _ = context.insertNewObject(forEntityName: "City")
            try context.save()
        }
        #expect(try store.rows("SELECT MAX(Z_PK) FROM ZPLACE") == ["7"])
    }

    @Test("An entity that joins a hierarchy in which it was not is refused")
    func mergedHierarchies() throws {
        let store = try MigratedStore([EntityDescription("A"), EntityDescription("B")])
        #expect(
            try store.refusal([EntityDescription("A"), EntityDescription("B", parent: "A")])
                == "Migrating STORE is refused. No mapping can be inferred for 'B': it now inherits from 'A', with which it had no common ancestor, so the keys of their objects can be equal; write a mapping model or a custom stage for it."
        )
    }

    @Test("An entity that leaves a hierarchy takes its objects to a table of its own, under their keys")
    func movedOut() throws {
        let store = try MigratedStore(animals(), Self.rows)
        var entities = animals()
        entities[2] = EntityDescription(
            "Dog", attributes: [name, AttributeDescription("tricks", .string)])
        try store.migrate(entities)
        #expect(try store.rows("SELECT Z_PK, Z_ENT, Z_OPT, ZNAME, ZTRICKS FROM ZDOG") == ["2|3|1|Rex|sit"])
        #expect(try store.rows("SELECT Z_PK FROM ZANIMAL ORDER BY 1") == ["1", "3"])
        #expect(try store.rows("SELECT ZFAVORITE FROM ZOWNER") == ["NULL", "1"])
    }

    @Test("A store of a configuration is migrated with the entities of it")
    func configuration() throws {
        func model(_ attributes: [AttributeDescription]) throws -> ManagedObjectModel {
            try ManagedObjectModel(
                entities: [
                    EntityDescription("Log", attributes: attributes), EntityDescription("User", attributes: attributes),
                ],
                configurations: [ConfigurationDescription("Logs", entities: ["Log"])])
        }
        let url = try TestStore.makeFolder().appendingPathComponent("Store.sqlite")
        var description = PersistentStoreDescription(url: url)
        description.configuration = "Logs"
        _ = try PersistentContainer(name: "Old", managedObjectModel: model([name]), storeDescription: description)
        try SQLShell.run("INSERT INTO ZLOG (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (1, 1, 1, 'a')", url)
        let new = try model([name, AttributeDescription("n", .integer16, defaultValue: 2)])
        _ = try PersistentContainer(name: "New", managedObjectModel: new, storeDescription: description)
        #expect(try SQLShell.run("SELECT ZNAME, ZN FROM ZLOG", url) == ["a|2"])
        #expect(try SQLShell.run("SELECT name FROM sqlite_master WHERE name = 'ZUSER'", url) == [])
    }

    @Test("An entity with objects does not leave a store's configuration")
    func otherConfiguration() throws {
        func model(_ logs: [String], _ notes: [String]) throws -> ManagedObjectModel {
            try ManagedObjectModel(
                entities: ["Log", "Note", "User"].map { EntityDescription($0, attributes: [name]) },
                configurations: [
                    ConfigurationDescription("Logs", entities: logs),
                    ConfigurationDescription("Notes", entities: notes),
                ])
        }
        func open(_ configuration: String, _ url: URL, _ model: ManagedObjectModel) throws {
            var description = PersistentStoreDescription(url: url)
            description.configuration = configuration
            try PersistentContainer(name: "Test", managedObjectModel: model, storeDescription: description).close()
        }
        let folder = try TestStore.makeFolder()
        let (logs, notes) = (
            folder.appendingPathComponent("Logs.sqlite"), folder.appendingPathComponent("Notes.sqlite")
        )
        let (old, new) = (try model(["Log", "User"], ["Note"]), try model(["Log"], ["Note", "User"]))
        try open("Logs", logs, old)
        try open("Notes", notes, old)
        try SQLShell.run("INSERT INTO ZUSER (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (1, 3, 1, 'a'), (2, 3, 1, 'b')", logs)
        #expect(
            performing { try open("Logs", logs, new) }
                == "Migrating '\(logs.path)' is refused: the configuration 'Logs' no longer has the entity 'User', but the store has 2 of its objects; move them to the other store in the older version first."
        )
        #expect(try SQLShell.run("SELECT ZNAME FROM ZUSER ORDER BY 1", logs) == ["a", "b"])
        try open("Notes", notes, new)
        #expect(try SQLShell.run("SELECT COUNT(*) FROM ZUSER", notes) == ["0"])
        try SQLShell.run("DELETE FROM ZUSER", logs)
        try open("Logs", logs, new)
        #expect(try SQLShell.run("SELECT name FROM sqlite_master WHERE name = 'ZUSER'", logs) == [])
    }

    @Test("The program's metadata and the store's identifier survive")
    func metadata() throws {
        let store = try MigratedStore([EntityDescription("A")])
        let old = try ManagedObjectModel(entities: [EntityDescription("A")])
        let container = try PersistentContainer(name: "Old", managedObjectModel: old, storeURL: store.url)
        let coordinator = container.persistentStoreCoordinator
        let context = container.newBackgroundContext()
        try coordinator.setMetadata(["sync": 42], for: coordinator.persistentStores[0])
        try context.performAndWait {
            _ = context.insertNewObject(forEntityName: "A")
            try context.save()
        }
        let uuid = coordinator.storeUUID
        try coordinator.remove(coordinator.persistentStores[0])
        let new = try store.migrate([EntityDescription("A", attributes: [name])]).persistentStoreCoordinator
        #expect(new.storeUUID == uuid)
        #expect(new.metadata(for: new.persistentStores[0])["sync"] as? Int == 42)
    }
}
