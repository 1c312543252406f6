import CSQLite
import FaultlineMigration
import FaultlineModel
import FaultlineStore
import Foundation
import Testing

@Suite("Rare combinations of changes lose and invent nothing")
struct MigrationCornerTests {
    private let n = AttributeDescription("n", .string)

    private func one(_ name: String, _ destination: String, _ inverse: String?, isOptional: Bool = true)
        -> RelationshipDescription
    {
        RelationshipDescription(name, to: destination, inverse: inverse, isOptional: isOptional)
    }

    private func many(
        _ name: String, _ destination: String, _ inverse: String, isOrdered: Bool = false, was: String? = nil
    ) -> RelationshipDescription {
        RelationshipDescription(
            name, to: destination, inverse: inverse, isToMany: true, isOrdered: isOrdered, renamingIdentifier: was)
    }

    @Test("A key that moves from the other side reaches only the objects to which it referred")
    func movedKeyOfMergedTables() throws {
        let store = try MigratedStore(
            [
                EntityDescription("A", attributes: [n]), EntityDescription("B", relationships: [one("x", "C", "y")]),
                EntityDescription("C", relationships: [one("y", "B", "x")]),
            ],
            "INSERT INTO ZA VALUES (1, 1, 1, 'a'); INSERT INTO ZB VALUES (1, 2, 1, 1); INSERT INTO ZC VALUES (1, 3, 1, 1)"
        )
        try store.migrate([
            EntityDescription("N", isAbstract: true, relationships: [one("x", "C", "y")]),
            EntityDescription("A", parent: "N", attributes: [n]), EntityDescription("B", parent: "N"),
            EntityDescription("C", relationships: [one("y", "N", "x")]),
        ])
        #expect(try store.rows("SELECT Z_PK, ZX FROM ZN ORDER BY 1") == ["1|NULL", "2|1"])
        #expect(try store.rows("SELECT ZY FROM ZC") == ["2"])
    }

    @Test("Two relationships that continue one for different subentities have their own objects")
    func splitKey() throws {
        let store = try MigratedStore(
            [
                EntityDescription("A", relationships: [one("y", "Base", "x")]),
                EntityDescription("Base", relationships: [one("x", "A", "y")]), EntityDescription("C1", parent: "Base"),
                EntityDescription("C2", parent: "Base"),
            ],
            """
            INSERT INTO ZA (Z_PK, Z_ENT, Z_OPT, ZY, Z2_Y) VALUES (1, 1, 1, 1, 3), (2, 1, 1, 2, 4);
            INSERT INTO ZBASE (Z_PK, Z_ENT, Z_OPT, ZX) VALUES (1, 3, 1, 1), (2, 4, 1, 2);
            """)
        try store.migrate([
            EntityDescription("A", relationships: [one("y1", "C1", "x"), one("y2", "C2", "x")]),
            EntityDescription("Base"), EntityDescription("C1", parent: "Base", relationships: [one("x", "A", "y1")]),
            EntityDescription("C2", parent: "Base", relationships: [one("x", "A", "y2")]),
        ])
        #expect(try store.rows("SELECT ZY1, ZY2 FROM ZA ORDER BY Z_PK") == ["1|NULL", "NULL|2"])
    }

    @Test("Relationships of sibling entities that become one of their parent bring the objects of each")
    func joinedSiblings() throws {
        let store = try MigratedStore(
            [
                EntityDescription("Base"),
                EntityDescription("C1", parent: "Base", relationships: [one("owner", "P", "c1s")]),
                EntityDescription("C2", parent: "Base", relationships: [one("owner", "P", "c2s")]),
                EntityDescription("P", relationships: [many("c1s", "C1", "owner"), many("c2s", "C2", "owner")]),
            ],
            """
            INSERT INTO ZP VALUES (7, 4, 1);
            INSERT INTO ZBASE (Z_PK, Z_ENT, Z_OPT, ZOWNER, ZOWNER1) VALUES (1, 2, 1, 7, NULL), (2, 3, 1, NULL, 7);
            """)
        try store.migrate([
            EntityDescription("Base", relationships: [many("owners", "P", "things", was: "owner")]),
            EntityDescription("C1", parent: "Base"), EntityDescription("C2", parent: "Base"),
            EntityDescription("P", relationships: [many("things", "Base", "owners")]),
        ])
        #expect(try store.rows("SELECT Z_1THINGS, Z_4OWNERS FROM Z_1OWNERS ORDER BY 1") == ["1|7", "2|7"])
    }

    @Test("An attribute that moves up has its default where it was missing, also if it is required")
    func movedUpWithDefault() throws {
        let x = AttributeDescription("x", .integer32, isOptional: false, defaultValue: 7)
        let store = try MigratedStore(
            [EntityDescription("Base", attributes: [n]), EntityDescription("C", parent: "Base", attributes: [x])],
            "INSERT INTO ZBASE (Z_PK, Z_ENT, Z_OPT, ZX) VALUES (1, 1, 1, NULL), (2, 2, 1, 5)")
        try store.migrate([EntityDescription("Base", attributes: [n, x]), EntityDescription("C", parent: "Base")])
        #expect(try store.rows("SELECT ZX FROM ZBASE ORDER BY Z_PK") == ["7", "5"])
    }

    @Test("Derived attributes follow defaults, members that leave, and each other")
    func derived() throws {
        func derived(_ name: String, _ type: AttributeType, _ expression: String) -> AttributeDescription {
            AttributeDescription(name, type, derivationExpression: expression)
        }
        func order(_ price: AttributeDescription, _ more: [AttributeDescription] = []) -> [EntityDescription] {
            [
                EntityDescription("I", attributes: [price], relationships: [one("o", "O", "items")]),
                EntityDescription("J", parent: "I"),
                EntityDescription(
                    "O",
                    attributes: [
                        derived("total", .integer64, "items.@sum.price"), derived("count", .integer64, "items.@count"),
                    ] + more,
                    relationships: [many("items", "I", "o")]),
            ]
        }
        // The triggers sum up the members that are inserted.
        let store = try MigratedStore(
            order(AttributeDescription("price", .integer32)),
            "INSERT INTO ZO (Z_PK, Z_ENT, Z_OPT, ZTOTAL, ZCOUNT) VALUES (1, 3, 1, 0, 0)", triggers: false)
        try store.rows("INSERT INTO ZI (Z_PK, Z_ENT, Z_OPT, ZO, ZPRICE) VALUES (1, 1, 1, 1, NULL), (2, 2, 1, 1, 3)")
        let price = AttributeDescription("price", .integer32, isOptional: false, defaultValue: 5)
        try store.migrate(order(price))
        #expect(try store.rows("SELECT ZTOTAL, ZCOUNT FROM ZO") == ["8|2"])
        var apart = order(
            price,
            [
                derived("a", .string, "uppercase:(b)"), derived("b", .string, "c"),
                AttributeDescription("c", .string, defaultValue: "x"),
            ])
        apart[1] = EntityDescription("J", attributes: [price])
        try store.migrate(apart)
        #expect(try store.rows("SELECT ZTOTAL, ZCOUNT, ZA, ZB FROM ZO") == ["5|1|X|x"])
    }

    @Test("A required reference is checked also where another program left its entity out")
    func lostReference() throws {
        let store = try MigratedStore(
            [
                EntityDescription("I"), EntityDescription("J", parent: "I"),
                EntityDescription("O", relationships: [one("i", "I", nil, isOptional: false)]),
            ],
            "INSERT INTO ZI VALUES (1, 2, 1); INSERT INTO ZO (Z_PK, Z_ENT, Z_OPT, ZI, Z1_I) VALUES (4, 3, 1, 1, NULL)")
        #expect(
            try store.refusal([
                EntityDescription("I"), EntityDescription("J"),
                EntityDescription("O", relationships: [one("i", "I", nil, isOptional: false)]),
            ]).contains("the object that the O object with the primary key 4 refers to does not remain"))
    }

    @Test("The order of members survives when two tables become one, and when only its relationship is renamed")
    func order() throws {
        func tree(_ name: String) -> EntityDescription {
            EntityDescription(name, relationships: [one("f", name, "g"), many("g", name, "f", isOrdered: true)])
        }
        let store = try MigratedStore(
            [tree("A"), tree("B")],
            "INSERT INTO ZA (Z_PK, Z_ENT, Z_OPT, ZF, Z_FOK_F) VALUES (1, 1, 1, 1, 4); INSERT INTO ZB (Z_PK, Z_ENT, Z_OPT, ZF, Z_FOK_F) VALUES (1, 2, 1, 1, 5)"
        )
        try store.migrate([
            EntityDescription(
                "N", isAbstract: true, relationships: [one("f", "N", "g"), many("g", "N", "f", isOrdered: true)]),
            EntityDescription("A", parent: "N"), EntityDescription("B", parent: "N"),
        ])
        #expect(try store.rows("SELECT ZF, Z_FOK_F FROM ZN ORDER BY Z_PK") == ["1|4", "2|5"])
        let single = try MigratedStore(
            [tree("A")], "INSERT INTO ZA (Z_PK, Z_ENT, Z_OPT, ZF, Z_FOK_F) VALUES (1, 1, 1, 1, 4)")
        try single.migrate([
            EntityDescription("A", relationships: [one("f", "A", "h"), many("h", "A", "f", isOrdered: true)])
        ])
        #expect(try single.rows("SELECT ZF, Z_FOK_F FROM ZA") == ["1|4"])
    }

    @Test("A program's own partial index does not stand in for one of the model's")
    func partialIndex() throws {
        let store = try MigratedStore([EntityDescription("I", attributes: [n])])
        try store.rows(
            "CREATE UNIQUE INDEX mine ON ZI (ZN) WHERE ZN = 'q'; CREATE INDEX other ON ZI (ZN COLLATE NOCASE)")
        let new = try ManagedObjectModel(entities: [
            EntityDescription(
                "I", attributes: [n], indexes: [FetchIndexDescription("byN", elements: [.init("n")])],
                uniquenessConstraints: [["n"]])
        ])
        _ = try PersistentContainer(name: "New", managedObjectModel: new, storeURL: store.url)
        #expect(
            try store.rows("SELECT name FROM sqlite_master WHERE type = 'index' ORDER BY 1")
                == ["Z_I_UNIQUE_n", "Z_I_byN", "mine", "other"])
    }

    @Test("A model that no store can have is refused")
    func unsupported() throws {
        let store = try MigratedStore([EntityDescription("I", attributes: [n])])
        #expect(
            try store.refusal([
                EntityDescription(
                    "I", attributes: [n, AttributeDescription("d", .string, derivationExpression: "reversed:(n)")])
            ]).contains("cannot derive 'I.d' from 'reversed:(n)'"))
    }

    @Test("A many-to-many relationship that moves down fills the tables of both subentities")
    func movedDownJoin() throws {
        let store = try MigratedStore(
            [
                EntityDescription("Base", relationships: [many("tags", "Tag", "bases")]),
                EntityDescription("C1", parent: "Base"), EntityDescription("C2", parent: "Base"),
                EntityDescription("Tag", relationships: [many("bases", "Base", "tags")]),
            ],
            "INSERT INTO ZBASE VALUES (1, 2, 1), (2, 3, 1); INSERT INTO ZTAG VALUES (5, 4, 1); INSERT INTO Z_1TAGS (Z_1BASES, Z_4TAGS) VALUES (1, 5), (2, 5)"
        )
        try store.migrate([
            EntityDescription("Base"),
            EntityDescription("C1", parent: "Base", relationships: [many("tags", "Tag", "c1s")]),
            EntityDescription("C2", parent: "Base", relationships: [many("tags", "Tag", "c2s")]),
            EntityDescription("Tag", relationships: [many("c1s", "C1", "tags"), many("c2s", "C2", "tags")]),
        ])
        #expect(try store.rows("SELECT Z_2C1S, Z_4TAGS FROM Z_2TAGS") == ["1|5"])
        #expect(try store.rows("SELECT Z_3C2S, Z_4TAGS1 FROM Z_3TAGS") == ["2|5"])
    }

    @Test("Uniqueness is checked with defaults, and over all objects of a hierarchy")
    func unique() throws {
        let code = AttributeDescription("code", .integer32, defaultValue: 0)
        let store = try MigratedStore([EntityDescription("I", attributes: [n])])
        try store.migrate([EntityDescription("I", attributes: [n, code], uniquenessConstraints: [["code"]])])
        let family = try MigratedStore(
            [EntityDescription("I", attributes: [n]), EntityDescription("J", parent: "I")],
            "INSERT INTO ZI VALUES (1, 1, 1, 'x'), (2, 2, 1, 'x')")
        #expect(
            try family.refusal([
                EntityDescription("I", attributes: [n], uniquenessConstraints: [["n"]]),
                EntityDescription("J", parent: "I"),
            ]).hasPrefix("Migrating STORE is refused: 'I.n' must be unique now, but another object has the same values")
        )
    }

    @Test("A unique clause in an old store's table goes with its constraint")
    func uniqueClause() throws {
        let store = try MigratedStore(
            [EntityDescription("I", attributes: [n], uniquenessConstraints: [["n"]])],
            "INSERT INTO ZI VALUES (1, 1, 1, 'x')")
        try store.rows(
            "DROP INDEX Z_I_UNIQUE_n; ALTER TABLE ZI RENAME TO O; CREATE TABLE ZI (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZN VARCHAR, CONSTRAINT N UNIQUE (ZN)); INSERT INTO ZI SELECT * FROM O; DROP TABLE O"
        )
        try store.migrate([EntityDescription("I", attributes: [n])])
        try store.rows("INSERT INTO ZI VALUES (2, 1, 1, 'x')")
    }

    @Test("A missing file of a large value stops a mapping model too")
    func missingFile() throws {
        func model(_ name: String) -> [EntityDescription] {
            [
                EntityDescription(
                    "P", attributes: [AttributeDescription(name, .binary, allowsExternalBinaryDataStorage: true)])
            ]
        }
        let store = try MigratedStore(
            model("data"),
            "INSERT INTO ZP VALUES (1, 1, 1, CAST(x'02' || '00000000-0000-0000-0000-000000000000' AS BLOB))")
        let before = try store.dump()
        let text = performing {
            try store.migrate(model("image")) {
                $0.mappingModels = [
                    MappingModel(entityMappings: [
                        EntityMapping(
                            "P", .custom, from: "P", to: "P",
                            attributeMappings: [PropertyMapping("image", .source("data"))],
                            entityMigrationPolicyClassName: "CopyingPolicy")
                    ])
                ]
                $0.migrationPolicies = [CopyingPolicy.self]
            }
        }
        #expect(text.hasPrefix("Reading a large value failed because the file "))
        #expect(try store.dump() == before)
    }

    @Test("The large values of another store in the same folder stay", arguments: [false, true])
    func sharedFolder(isLinked: Bool) throws {
        func model(_ name: String) throws -> ManagedObjectModel {
            try ManagedObjectModel(entities: [
                EntityDescription(
                    "P", attributes: [AttributeDescription(name, .binary, allowsExternalBinaryDataStorage: true)])
            ])
        }
        let folder = try TestStore.makeFolder()
        var urls = ["s.sqlite", "s.db"].map { folder.appendingPathComponent($0) }
        if isLinked {
            let other = try TestStore.makeFolder().appendingPathComponent("real.sqlite")
            try FileManager.default.createSymbolicLink(at: urls[0], withDestinationURL: other)
            urls[0] = folder.appendingPathComponent("s.sqlite")
        }
        for url in urls {
            let container = try PersistentContainer(name: "Old", managedObjectModel: model("data"), storeURL: url)
            let context = container.newBackgroundContext()
            try context.performAndWait {
                context.insertNewObject(forEntityName: "P")["data"] = Data(repeating: 3, count: 200_000)
                try context.save()
            }
            try container.close()
        }
        var description = PersistentStoreDescription(url: urls[0])
        description.mappingModels = [
            MappingModel(entityMappings: [
                EntityMapping(
                    "P", .custom, from: "P", to: "P", attributeMappings: [PropertyMapping("image", .source("data"))],
                    entityMigrationPolicyClassName: "CopyingPolicy")
            ])
        ]
        description.migrationPolicies = [CopyingPolicy.self]
        try PersistentContainer(name: "New", managedObjectModel: model("image"), storeDescription: description).close()
        for (url, name) in [(urls[0], "image"), (urls[1], "data")] {
            let container = try PersistentContainer(name: "Test", managedObjectModel: model(name), storeURL: url)
            let context = container.newBackgroundContext()
            try context.performAndWait {
                let photo = try #require(try context.fetch(FetchRequest<ManagedObject>(entityName: "P")).first)
                #expect((photo[name] as? Data)?.count == 200_000)
            }
            try container.close()
        }
        let files = folder.appendingPathComponent(".s_SUPPORT/_EXTERNAL_DATA")
        #expect(try FileManager.default.contentsOfDirectory(atPath: files.path).count == 2)
    }
}
