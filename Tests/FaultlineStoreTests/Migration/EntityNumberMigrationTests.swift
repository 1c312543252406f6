import FaultlineMigration
import FaultlineModel
import FaultlineStore
import Foundation
import Testing

@Suite("Numbers, columns and join tables shift with a model's entities, and no value moves to another object")
struct EntityNumberMigrationTests {
    private let name = AttributeDescription("name", .string)
    private let lives = AttributeDescription("lives", .integer16)

    private func tagged(_ entity: String, _ inverse: String) -> EntityDescription {
        EntityDescription(
            entity, relationships: [RelationshipDescription("tags", to: "Tag", inverse: inverse, isToMany: true)])
    }

    private func tag(_ relationships: [(name: String, entity: String)]) -> EntityDescription {
        EntityDescription(
            "Tag", attributes: [name],
            relationships: relationships.map {
                RelationshipDescription($0.name, to: $0.entity, inverse: "tags", isToMany: true)
            })
    }

    // MARK: - Columns

    /// Each child has an attribute of the same name, so their columns have numbers: ZLIVES, ZLIVES1 and so on.
    private func animals(_ children: String...) -> [EntityDescription] {
        [EntityDescription("Animal", attributes: [name])]
            + children.map { EntityDescription($0, parent: "Animal", attributes: [lives]) }
    }

    @Test("Attributes of siblings with the same name keep their values when a sibling comes before them")
    func addedSibling() throws {
        let store = try MigratedStore(
            animals("Cat", "Dog"),
            """
            INSERT INTO ZANIMAL (Z_PK, Z_ENT, Z_OPT, ZNAME, ZLIVES, ZLIVES1) VALUES
            (1, 2, 1, 'Tom', 9, NULL), (2, 3, 1, 'Rex', NULL, 1), (3, 1, 1, 'Gus', NULL, NULL);
            """)
        try store.migrate(animals("Bear", "Cat", "Dog"))
        #expect(
            try store.rows("SELECT Z_PK, Z_ENT, ZNAME, ZLIVES, ZLIVES1, ZLIVES2 FROM ZANIMAL ORDER BY 1")
                == ["1|3|Tom|NULL|9|NULL", "2|4|Rex|NULL|NULL|1", "3|1|Gus|NULL|NULL|NULL"])
    }

    @Test("Attributes of siblings with the same name keep their values when a sibling is removed")
    func removedSibling() throws {
        let rows = """
            INSERT INTO ZANIMAL (Z_PK, Z_ENT, Z_OPT, ZNAME, ZLIVES, ZLIVES1, ZLIVES2) VALUES
            (1, 2, 1, 'Bo', 4, NULL, NULL), (2, 3, 1, 'Tom', NULL, 9, NULL), (3, 4, 1, 'Rex', NULL, NULL, 1);
            """
        for (children, expected) in [
            (["Cat", "Dog"], ["2|2|Tom|9|NULL", "3|3|Rex|NULL|1"]),
            (["Bear", "Dog"], ["1|2|Bo|4|NULL", "3|3|Rex|NULL|1"]),
            (["Bear", "Cat"], ["1|2|Bo|4|NULL", "2|3|Tom|NULL|9"]),
        ] {
            let store = try MigratedStore(animals("Bear", "Cat", "Dog"), rows)
            try store.migrate(animals(children[0], children[1]))
            #expect(
                try store.rows("SELECT Z_PK, Z_ENT, ZNAME, ZLIVES, ZLIVES1 FROM ZANIMAL ORDER BY 1") == expected,
                "\(children)")
        }
    }

    // MARK: - Join tables

    /// The join tables are Z_1TAGS and Z_2TAGS, or Z_2TAGS and Z_3TAGS if an entity comes before the two.
    private func libraries(_ more: EntityDescription...) -> [EntityDescription] {
        more + [tagged("Book", "books"), tagged("City", "cities"), tag([("books", "Book"), ("cities", "City")])]
    }

    private func indexes(_ store: MigratedStore) throws -> [String] {
        try store.rows(
            """
            SELECT tbl_name, COUNT(*) FROM sqlite_master
            WHERE type = 'index' AND tbl_name LIKE 'Z__TAGS' AND sql NOT NULL GROUP BY 1 ORDER BY 1
            """)
    }

    @Test("A join table takes the name of another one when an entity is added, and each keeps its pairs")
    func addedBeforeJoinTables() throws {
        let store = try MigratedStore(
            libraries(),
            """
            INSERT INTO ZBOOK VALUES (1, 1, 1), (2, 1, 1); INSERT INTO ZCITY VALUES (5, 2, 1), (6, 2, 1);
            INSERT INTO ZTAG VALUES (8, 3, 1, 'x'), (9, 3, 1, 'y');
            INSERT INTO Z_1TAGS (Z_1BOOKS, Z_3TAGS) VALUES (1, 8), (2, 9);
            INSERT INTO Z_2TAGS (Z_2CITIES, Z_3TAGS1) VALUES (5, 9), (6, 8), (6, 9);
            """)
        try store.migrate(libraries(EntityDescription("Aardvark")))
        #expect(try store.rows("SELECT Z_2BOOKS, Z_4TAGS FROM Z_2TAGS ORDER BY 1, 2") == ["1|8", "2|9"])
        #expect(try store.rows("SELECT Z_3CITIES, Z_4TAGS1 FROM Z_3TAGS ORDER BY 1, 2") == ["5|9", "6|8", "6|9"])
        #expect(try indexes(store) == ["Z_2TAGS|1", "Z_3TAGS|1"])
    }

    @Test("A join table takes the name of another one when an entity is removed, and each keeps its pairs")
    func removedBeforeJoinTables() throws {
        let store = try MigratedStore(
            libraries(EntityDescription("Aardvark")),
            """
            INSERT INTO ZAARDVARK VALUES (1, 1, 1); INSERT INTO ZBOOK VALUES (1, 2, 1), (2, 2, 1);
            INSERT INTO ZCITY VALUES (5, 3, 1), (6, 3, 1); INSERT INTO ZTAG VALUES (8, 4, 1, 'x'), (9, 4, 1, 'y');
            INSERT INTO Z_2TAGS (Z_2BOOKS, Z_4TAGS) VALUES (1, 8), (2, 9);
            INSERT INTO Z_3TAGS (Z_3CITIES, Z_4TAGS1) VALUES (5, 9), (6, 8), (6, 9);
            """)
        try store.migrate(libraries())
        #expect(try store.rows("SELECT Z_1BOOKS, Z_3TAGS FROM Z_1TAGS ORDER BY 1, 2") == ["1|8", "2|9"])
        #expect(try store.rows("SELECT Z_2CITIES, Z_3TAGS1 FROM Z_2TAGS ORDER BY 1, 2") == ["5|9", "6|8", "6|9"])
        #expect(try indexes(store) == ["Z_1TAGS|1", "Z_2TAGS|1"])
    }

    @Test("A removed entity takes its join table with it, and the objects at the other end stay")
    func removedWithJoinTable() throws {
        let store = try MigratedStore(
            libraries(),
            """
            INSERT INTO ZBOOK VALUES (1, 1, 1); INSERT INTO ZCITY VALUES (5, 2, 1);
            INSERT INTO ZTAG VALUES (8, 3, 1, 'x'), (9, 3, 2, 'y');
            INSERT INTO Z_1TAGS (Z_1BOOKS, Z_3TAGS) VALUES (1, 8);
            INSERT INTO Z_2TAGS (Z_2CITIES, Z_3TAGS1) VALUES (5, 8), (5, 9);
            """)
        try store.migrate([tagged("Book", "books"), tag([("books", "Book")])])
        #expect(try store.rows("SELECT name FROM sqlite_master WHERE name IN ('ZCITY', 'Z_2TAGS')") == [])
        #expect(try store.rows("SELECT Z_PK, Z_ENT, Z_OPT, ZNAME FROM ZTAG ORDER BY 1") == ["8|2|1|x", "9|2|2|y"])
        #expect(try store.rows("SELECT Z_1BOOKS, Z_2TAGS FROM Z_1TAGS") == ["1|8"])
    }

    // MARK: - Hierarchies

    /// Entities by number: 1 Animal, 2 Dog, 3 Puppy.
    private var dogs: [EntityDescription] {
        [
            EntityDescription("Animal", attributes: [name]),
            EntityDescription("Dog", parent: "Animal", attributes: [AttributeDescription("tricks", .string)]),
            EntityDescription("Puppy", parent: "Dog", attributes: [AttributeDescription("weeks", .integer16)]),
        ]
    }

    private static let dogRows = """
        INSERT INTO ZANIMAL (Z_PK, Z_ENT, Z_OPT, ZNAME, ZTRICKS, ZWEEKS) VALUES
        (1, 1, 1, 'Gus', NULL, NULL), (2, 2, 1, 'Rex', 'sit', NULL), (3, 3, 1, 'Bo', 'roll', 8);
        """

    @Test("The objects of subentities that are removed with their parent go too")
    func removedFamily() throws {
        let store = try MigratedStore(dogs, Self.dogRows)
        try store.migrate([dogs[0]])
        #expect(try store.rows("SELECT * FROM ZANIMAL") == ["1|1|1|Gus"])
    }

    @Test("A subentity of a removed entity moves up with what it has from the others")
    func removedBetween() throws {
        let store = try MigratedStore(dogs, Self.dogRows)
        var puppy = dogs[2]
        puppy.parent = "Animal"
        try store.migrate([dogs[0], puppy])
        #expect(
            try store.rows("SELECT Z_PK, Z_ENT, Z_OPT, ZNAME, ZWEEKS FROM ZANIMAL ORDER BY 1")
                == ["1|1|1|Gus|NULL", "3|2|1|Bo|8"])
    }

    @Test("Children of a removed root become roots, with tables and keys of their own")
    func removedRoot() throws {
        let store = try MigratedStore(
            animals("Cat", "Dog"),
            """
            INSERT INTO ZANIMAL (Z_PK, Z_ENT, Z_OPT, ZNAME, ZLIVES, ZLIVES1) VALUES
            (1, 2, 1, 'Tom', 9, NULL), (2, 3, 3, 'Rex', NULL, 1), (4, 1, 1, 'Gus', NULL, NULL);
            """)
        let container = try store.migrate([
            EntityDescription("Cat", attributes: [name, lives]), EntityDescription("Dog", attributes: [name, lives]),
        ])
        #expect(try store.rows("SELECT Z_PK, Z_ENT, Z_OPT, ZNAME, ZLIVES FROM ZCAT") == ["1|1|1|Tom|9"])
        #expect(try store.rows("SELECT Z_PK, Z_ENT, Z_OPT, ZNAME, ZLIVES FROM ZDOG") == ["2|2|3|Rex|1"])
        #expect(try store.rows("SELECT name FROM sqlite_master WHERE name = 'ZANIMAL'") == [])
        let context = container.newBackgroundContext()
        try context.performAndWait {
            context.insertNewObject(forEntityName: "Cat")["name"] = "Kit"
            try context.save()
        }
        // The key of a removed animal is not given to another object.
        #expect(try store.rows("SELECT Z_PK FROM ZCAT WHERE ZNAME = 'Kit'") == ["5"])
    }

    // MARK: - Keys

    @Test("Keys of deleted objects are not given out again after a migration")
    func lastKey() throws {
        let note = EntityDescription("Note", attributes: [name])
        let store = try MigratedStore([note], "INSERT INTO ZNOTE VALUES (1, 1, 1, 'a'), (5, 1, 1, 'b')")
        try store.rows("UPDATE Z_PRIMARYKEY SET Z_MAX = 50 WHERE Z_NAME = 'Note'")
        let container = try store.migrate([note, EntityDescription("Aardvark")])
        #expect(
            try store.rows("SELECT Z_ENT, Z_NAME, Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT < 16000 ORDER BY 1")
                == ["1|Aardvark|0", "2|Note|50"])
        let context = container.newBackgroundContext()
        try context.performAndWait {
            context.insertNewObject(forEntityName: "Note")["name"] = "c"
            try context.save()
        }
        #expect(try store.rows("SELECT Z_PK, Z_ENT, ZNAME FROM ZNOTE ORDER BY 1") == ["1|2|a", "5|2|b", "51|2|c"])
    }
}
