import FaultlineMigration
import FaultlineModel
import FaultlineStore
import Foundation
import Testing

@Suite("Values stay with their attribute, whatever else changes")
struct AttributeValueMigrationTests {
    private func note(_ attributes: AttributeDescription...) -> [EntityDescription] {
        [EntityDescription("Note", attributes: attributes)]
    }

    private static let two = "INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZTEXT) VALUES (1, 1, 1, 'a'), (5, 1, 3, NULL)"

    /// The values of an attribute, read through a context, in the order of the names.
    private func values<Value: Sendable>(
        _ attribute: String, _ type: Value.Type, of entity: String = "Note", in container: PersistentContainer
    ) throws -> [Value?] {
        let context = container.newBackgroundContext()
        return try context.performAndWait {
            let request = FetchRequest<ManagedObject>(entityName: entity, sortDescriptors: [.ascending("name")])
            return try context.fetch(request).map { $0[attribute] as? Value }
        }
    }

    // MARK: - Tables of several entities

    /// Entities by number: 1 Animal, 2 Cat, 3 Dog.
    private func animals(
        _ animal: [AttributeDescription] = [], cat: [AttributeDescription] = [], dog: [AttributeDescription] = []
    ) -> [EntityDescription] {
        [
            EntityDescription("Animal", attributes: [AttributeDescription("name", .string)] + animal),
            EntityDescription("Cat", parent: "Animal", attributes: cat),
            EntityDescription("Dog", parent: "Animal", attributes: dog),
        ]
    }

    @Test("A new attribute has its default value in the objects of its entity alone")
    func addedToOneEntity() throws {
        let rows = """
            INSERT INTO ZANIMAL (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES
            (1, 1, 1, 'Gus'), (2, 2, 1, 'Tom'), (3, 3, 1, 'Rex'), (4, 2, 1, NULL);
            """
        let wings = AttributeDescription("wings", .integer16, defaultValue: 2)
        for (new, expected) in [
            (animals(cat: [wings]), ["1|NULL", "2|2", "3|NULL", "4|2"]),
            (animals([wings]), ["1|2", "2|2", "3|2", "4|2"]),
        ] {
            let store = try MigratedStore(animals(), rows)
            try store.migrate(new)
            #expect(try store.rows("SELECT Z_PK, ZWINGS FROM ZANIMAL ORDER BY 1") == expected)
        }
    }

    @Test("An attribute that moves up takes the values of both numeric types that fit")
    func movedUp() throws {
        let store = try MigratedStore(
            animals(
                cat: [AttributeDescription("lives", .integer16)], dog: [AttributeDescription("lives", .integer64)]),
            """
            INSERT INTO ZANIMAL (Z_PK, Z_ENT, Z_OPT, ZNAME, ZLIVES, ZLIVES1) VALUES
            (1, 2, 1, 'A', 9, NULL), (2, 3, 1, 'B', NULL, 1099511627776),
            (3, 3, 1, 'C', NULL, 70000), (4, 1, 1, 'D', NULL, NULL);
            """)
        let new = animals([AttributeDescription("lives", .integer32)])
        #expect(
            try store.refusal(new)
                == "Migrating STORE is refused: 'Dog.lives' becomes Integer 32, which cannot hold the values of the Dog object with the primary key 2; change them in the older version first, or write a mapping model or a custom stage that converts it."
        )
        try store.rows("UPDATE ZANIMAL SET ZLIVES1 = 2147483647 WHERE Z_PK = 2")
        let container = try store.migrate(new)
        #expect(
            try store.rows("SELECT Z_PK, ZLIVES FROM ZANIMAL ORDER BY 1")
                == ["1|9", "2|2147483647", "3|70000", "4|NULL"])
        #expect(try values("lives", Int64.self, of: "Animal", in: container) == [9, 2_147_483_647, 70000, nil])
    }

    @Test("An attribute of a subentity becomes a smaller number if its values fit")
    func narrowedInSubentity() throws {
        let store = try MigratedStore(
            animals(cat: [AttributeDescription("lives", .integer64)]),
            """
            INSERT INTO ZANIMAL (Z_PK, Z_ENT, Z_OPT, ZNAME, ZLIVES) VALUES
            (1, 2, 1, 'A', 32767), (2, 2, 1, 'B', NULL), (3, 3, 1, 'C', NULL);
            """)
        let container = try store.migrate(animals(cat: [AttributeDescription("lives", .integer16)]))
        #expect(try values("lives", Int64.self, of: "Cat", in: container) == [32767, nil])
    }

    // MARK: - Numbers

    private func number(_ type: AttributeType) -> [EntityDescription] {
        note(AttributeDescription("name", .string), AttributeDescription("n", type))
    }

    private func numbers(_ type: AttributeType, _ first: String, _ second: String) throws -> MigratedStore {
        try MigratedStore(
            number(type),
            """
            INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZNAME, ZN) VALUES
            (1, 1, 1, 'a', \(first)), (2, 1, 1, 'b', \(second)), (3, 1, 1, 'c', NULL);
            """)
    }

    @Test("Boolean values become numbers, and the numbers 0 and 1 Boolean values")
    func booleans() throws {
        let container = try numbers(.boolean, "1", "0").migrate(number(.integer32))
        #expect(try values("n", Int64.self, in: container) == [1, 0, nil])
        let back = try numbers(.integer16, "0", "1").migrate(number(.boolean))
        #expect(try values("n", Bool.self, in: back) == [false, true, nil])
    }

    @Test("A fraction is the same as a decimal number, and as a floating-point number again")
    func decimals() throws {
        let store = try numbers(.double, "0.1", "-2.5")
        let container = try store.migrate(number(.decimal))
        #expect(
            try values("n", Decimal.self, in: container) == [Decimal(string: "0.1"), Decimal(string: "-2.5"), nil])
        try container.close()
        // The modifier makes this a version that the store did not have before.
        var entities = number(.double)
        entities[0].versionHashModifier = "3"
        #expect(try values("n", Double.self, in: store.migrate(entities)) == [0.1, -2.5, nil])
    }

    // MARK: - Names

    @Test("A renaming identifier that stays in later versions keeps the values", arguments: [false, true])
    func keptIdentifier(isStepwise: Bool) throws {
        let body = AttributeDescription("body", .string, renamingIdentifier: "text")
        let store = try MigratedStore(note(AttributeDescription("text", .string)), Self.two)
        if isStepwise { try store.migrate(note(body)) }
        try store.migrate(note(body, AttributeDescription("n", .integer16, defaultValue: 4)))
        #expect(try store.rows("SELECT Z_PK, ZBODY, ZN FROM ZNOTE ORDER BY 1") == ["1|a|4", "5|NULL|4"])
    }

    @Test("The same identifier in both versions keeps the values, also with another numeric type")
    func sharedIdentifier() throws {
        let store = try MigratedStore(
            note(
                AttributeDescription("name", .string),
                AttributeDescription("isSilenced", .boolean, renamingIdentifier: "m")),
            """
            INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZNAME, ZISSILENCED) VALUES
            (1, 1, 1, 'a', 1), (2, 1, 1, 'b', 0), (3, 1, 1, 'c', NULL);
            """)
        let container = try store.migrate(
            note(
                AttributeDescription("name", .string),
                AttributeDescription("status", .integer32, renamingIdentifier: "m")))
        #expect(try store.rows("SELECT Z_PK, ZSTATUS FROM ZNOTE ORDER BY 1") == ["1|1", "2|0", "3|NULL"])
        #expect(try values("status", Int64.self, in: container) == [1, 0, nil])
    }

    @Test("A stray renaming identifier does not take the values of an attribute that still exists")
    func strayIdentifier() throws {
        let store = try MigratedStore(note(AttributeDescription("text", .string)), Self.two)
        try store.migrate(
            note(
                AttributeDescription("text", .string),
                AttributeDescription("title", .string, renamingIdentifier: "text")))
        #expect(try store.rows("SELECT Z_PK, ZTEXT, ZTITLE FROM ZNOTE ORDER BY 1") == ["1|a|NULL", "5|NULL|NULL"])
    }

    @Test("A name of which only the case changes keeps its values with an identifier")
    func changedCase() throws {
        let store = try MigratedStore(
            note(AttributeDescription("name", .string), AttributeDescription("text", .string)),
            "INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZNAME, ZTEXT) VALUES (1, 1, 1, 'a', 'b'), (2, 1, 1, NULL, 'c')")
        try store.migrate(
            note(
                AttributeDescription("Name", .string, renamingIdentifier: "name"),
                AttributeDescription("text", .string)))
        #expect(try store.rows("SELECT Z_PK, ZNAME, ZTEXT FROM ZNOTE ORDER BY 1") == ["1|a|b", "2|NULL|c"])
    }

    @Test("An attribute and a relationship with the same name do not continue each other", arguments: [false, true])
    func otherKind(becomesRelationship: Bool) throws {
        func model(_ isRelationship: Bool) -> [EntityDescription] {
            [
                EntityDescription("Author"),
                EntityDescription(
                    "Book",
                    attributes: [AttributeDescription("title", .string)]
                        + (isRelationship ? [] : [AttributeDescription("author", .integer64)]),
                    relationships: isRelationship ? [RelationshipDescription("author", to: "Author", inverse: nil)] : []
                ),
            ]
        }
        let store = try MigratedStore(
            model(!becomesRelationship),
            """
            INSERT INTO ZAUTHOR VALUES (1, 1, 1);
            INSERT INTO ZBOOK (Z_PK, Z_ENT, Z_OPT, ZTITLE, ZAUTHOR) VALUES (10, 2, 1, 'x', 1), (11, 2, 1, 'y', NULL);
            """)
        try store.migrate(model(becomesRelationship))
        #expect(try store.rows("SELECT Z_PK, ZTITLE, ZAUTHOR FROM ZBOOK ORDER BY 1") == ["10|x|NULL", "11|y|NULL"])
    }

    // MARK: - Defaults

    @Test("A default value that comes with another change leaves missing values missing")
    func newDefault() throws {
        let store = try MigratedStore(note(AttributeDescription("text", .string)), Self.two)
        try store.migrate(
            note(
                AttributeDescription("text", .string, defaultValue: "new"),
                AttributeDescription("n", .integer16, defaultValue: 3)))
        #expect(try store.rows("SELECT Z_PK, ZTEXT, ZN FROM ZNOTE ORDER BY 1") == ["1|a|3", "5|NULL|3"])
        let renamed = try MigratedStore(note(AttributeDescription("text", .string)), Self.two)
        try renamed.migrate(
            note(AttributeDescription("body", .string, defaultValue: "new", renamingIdentifier: "text")))
        #expect(try renamed.rows("SELECT Z_PK, ZBODY FROM ZNOTE ORDER BY 1") == ["1|a", "5|NULL"])
    }
}
