import FaultlineMigration
import FaultlineModel
import FaultlineStore
import Foundation
import Testing

@Suite("Relationships keep their objects when the settings of one end change")
struct RelationshipChangeTests {
    private let name = AttributeDescription("name", .string)

    /// Entities by number: 1 Author, 2 Book.
    private func model(
        _ author: [RelationshipDescription], _ book: [RelationshipDescription], more: [EntityDescription] = []
    ) -> [EntityDescription] {
        [
            EntityDescription("Author", attributes: [name], relationships: author),
            EntityDescription("Book", attributes: [AttributeDescription("title", .string)], relationships: book),
        ] + more
    }

    private func one(
        _ name: String, _ destination: String, _ inverse: String?, isOptional: Bool = true, was: String? = nil
    ) -> RelationshipDescription {
        RelationshipDescription(
            name, to: destination, inverse: inverse, isOptional: isOptional, renamingIdentifier: was)
    }

    private func many(
        _ name: String, _ destination: String, _ inverse: String, isOrdered: Bool = false, was: String? = nil
    ) -> RelationshipDescription {
        RelationshipDescription(
            name, to: destination, inverse: inverse, isToMany: true, isOrdered: isOrdered, renamingIdentifier: was)
    }

    private static func objects(book: Int = 2) -> String {
        """
        INSERT INTO ZAUTHOR (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (1, 1, 1, 'A'), (2, 1, 1, 'B');
        INSERT INTO ZBOOK (Z_PK, Z_ENT, Z_OPT, ZTITLE) VALUES
        (10, \(book), 1, 'x'), (11, \(book), 1, 'y'), (12, \(book), 1, 'z');
        """
    }

    /// The first and the third book have the first author, and the second book has the other one.
    private static let keys = objects() + "UPDATE ZBOOK SET ZAUTHOR = CASE Z_PK WHEN 11 THEN 2 ELSE 1 END"

    private var oneToMany: [EntityDescription] {
        model([many("books", "Book", "author")], [one("author", "Author", "books")])
    }

    // MARK: - Order and counts

    @Test("Members keep their owner when a relationship is no longer ordered")
    func unorderedKeys() throws {
        let store = try MigratedStore(
            model([many("books", "Book", "author", isOrdered: true)], [one("author", "Author", "books")]),
            Self.keys + "; UPDATE ZBOOK SET Z_FOK_AUTHOR = 100 - Z_PK")
        try store.migrate(oneToMany)
        #expect(
            try store.rows("SELECT Z_PK, ZTITLE, ZAUTHOR FROM ZBOOK ORDER BY 1") == ["10|x|1", "11|y|2", "12|z|1"])
    }

    @Test("A join table keeps its pairs when a relationship is no longer ordered")
    func unorderedPairs() throws {
        func model(_ isOrdered: Bool) -> [EntityDescription] {
            self.model(
                [many("books", "Book", "authors", isOrdered: isOrdered)], [many("authors", "Author", "books")])
        }
        let store = try MigratedStore(
            model(true),
            Self.objects() + """
                INSERT INTO Z_1BOOKS (Z_1AUTHORS, Z_2BOOKS, Z_FOK_2BOOKS) VALUES
                (1, 10, 300), (1, 12, 100), (2, 12, 200);
                """)
        try store.migrate(model(false))
        #expect(try store.rows("SELECT Z_1AUTHORS, Z_2BOOKS FROM Z_1BOOKS ORDER BY 1, 2") == ["1|10", "1|12", "2|12"])
    }

    @Test("Counts that the objects do not have are accepted, and the objects stay", arguments: [(0, 1), (2, 0)])
    func counts(minimum: Int, maximum: Int) throws {
        let store = try MigratedStore(oneToMany, Self.keys)
        let before = try store.rows("SELECT * FROM ZBOOK ORDER BY 1") + store.rows("SELECT * FROM ZAUTHOR ORDER BY 1")
        var books = many("books", "Book", "author")
        (books.minimumCount, books.maximumCount) = (minimum, maximum)
        try store.migrate(model([books], [one("author", "Author", "books")]))
        #expect(
            try store.rows("SELECT * FROM ZBOOK ORDER BY 1") + store.rows("SELECT * FROM ZAUTHOR ORDER BY 1") == before)
        #expect(try store.rows("SELECT ZAUTHOR FROM ZBOOK ORDER BY Z_PK") == ["1", "2", "1"])
    }

    // MARK: - To-one relationships

    @Test("A relationship that becomes optional keeps its objects, and can then be empty")
    func optional() throws {
        let store = try MigratedStore(
            model([many("books", "Book", "author")], [one("author", "Author", "books", isOptional: false)]), Self.keys)
        let context = try store.migrate(oneToMany).newBackgroundContext()
        #expect(try store.rows("SELECT Z_PK, ZAUTHOR FROM ZBOOK ORDER BY 1") == ["10|1", "11|2", "12|1"])
        try context.performAndWait {
            var request = FetchRequest<ManagedObject>(entityName: "Book")
            request.predicate = try FetchPredicate(format: "title == 'x'")
            let book = try #require(try context.fetch(request).first)
            book[ToOneKey<ManagedObject>("author")] = nil
            context.insertNewObject(forEntityName: "Book")["title"] = "new"
            try context.save()
        }
        #expect(
            try store.rows("SELECT Z_PK, ZAUTHOR FROM ZBOOK ORDER BY 1") == ["10|NULL", "11|2", "12|1", "13|NULL"])
    }

    @Test("A one-way relationship that gets a to-many inverse keeps its objects, and the inverse has them")
    func inverse() throws {
        let store = try MigratedStore(model([], [one("author", "Author", nil)]), Self.keys)
        let context = try store.migrate(oneToMany).newBackgroundContext()
        #expect(try store.rows("SELECT Z_PK, ZAUTHOR FROM ZBOOK ORDER BY 1") == ["10|1", "11|2", "12|1"])
        let titles = try context.performAndWait {
            let request = FetchRequest<ManagedObject>(entityName: "Author", sortDescriptors: [.ascending("name")])
            return try context.fetch(request).map { author in
                author[ToManyKey<ManagedObject>("books")].compactMap { $0["title"] as? String }.sorted()
            }
        }
        #expect(titles == [["x", "z"], ["y"]])
    }

    @Test("A one-way relationship becomes many-to-many, and its keys become pairs")
    func manyToMany() throws {
        let store = try MigratedStore(model([], [one("author", "Author", nil)]), Self.keys)
        try store.rows("UPDATE ZBOOK SET ZAUTHOR = NULL WHERE Z_PK = 12")
        try store.migrate(
            model([many("books", "Book", "authors")], [many("authors", "Author", "books", was: "author")]))
        #expect(try store.rows("SELECT Z_1AUTHORS, Z_2BOOKS FROM Z_1BOOKS ORDER BY 1, 2") == ["1|10", "2|11"])
    }

    // MARK: - Destinations with subentities

    /// Entities by number: 1 Author, 2 Poet, 3 Book.
    private func poets(_ book: [RelationshipDescription], more: [EntityDescription] = []) -> [EntityDescription] {
        model([], book, more: [EntityDescription("Poet", parent: "Author")] + more)
    }

    private static let poetKeys =
        objects(book: 3) + """
            UPDATE ZAUTHOR SET Z_ENT = 2 WHERE Z_PK = 2;
            UPDATE ZBOOK SET ZAUTHOR = 1, Z1_AUTHOR = 1 WHERE Z_PK = 10;
            UPDATE ZBOOK SET ZAUTHOR = 2, Z1_AUTHOR = 2 WHERE Z_PK = 11;
            """

    @Test("A destination that becomes one of its subentities is refused")
    func narrowedDestination() throws {
        #expect(
            try MigratedStore(poets([one("author", "Author", nil)]), Self.poetKeys).refusal(
                poets([one("author", "Poet", nil)]))
                == "Migrating STORE is refused. No mapping can be inferred for 'Book.author': its destination changes from 'Author' to 'Poet', which does not contain the objects of the former; write a mapping model or a custom stage for it."
        )
    }

    @Test("A renamed relationship keeps the number of each object's entity, also when the numbers shift")
    func renamedWithEntity() throws {
        for (more, column, expected) in [
            ([], "Z1_WRITER", ["10|1|1", "11|2|2", "12|NULL|NULL"]),
            ([EntityDescription("Aardvark")], "Z2_WRITER", ["10|1|2", "11|2|3", "12|NULL|NULL"]),
        ] as [([EntityDescription], String, [String])] {
            let store = try MigratedStore(poets([one("author", "Author", nil)]), Self.poetKeys)
            try store.migrate(poets([one("writer", "Author", nil, was: "author")], more: more))
            #expect(try store.rows("SELECT Z_PK, ZWRITER, \(column) FROM ZBOOK ORDER BY 1") == expected)
        }
    }

    @Test("A new relationship to an entity with subentities is empty in both of its columns")
    func addedWithEntity() throws {
        let store = try MigratedStore(poets([one("author", "Author", nil)]), Self.poetKeys)
        try store.migrate(poets([one("author", "Author", nil), one("editor", "Author", nil)]))
        #expect(
            try store.rows("SELECT Z_PK, ZAUTHOR, Z1_AUTHOR, ZEDITOR, Z1_EDITOR FROM ZBOOK ORDER BY 1")
                == ["10|1|1|NULL|NULL", "11|2|2|NULL|NULL", "12|NULL|NULL|NULL|NULL"])
    }

    // MARK: - Tables that become one

    @Test("The pairs of two entities that get a common parent follow the objects to their new keys")
    func pairsOfMergedTables() throws {
        func places(_ parent: String?) -> [EntityDescription] {
            [
                EntityDescription("City", parent: parent, relationships: [many("tags", "Tag", "cities")]),
                EntityDescription("River", parent: parent, relationships: [many("tags", "Tag", "rivers")]),
                EntityDescription(
                    "Tag", relationships: [many("cities", "City", "tags"), many("rivers", "River", "tags")]),
            ] + (parent == nil ? [] : [EntityDescription("Place", isAbstract: true)])
        }
        let store = try MigratedStore(
            places(nil),
            """
            INSERT INTO ZCITY VALUES (1, 1, 1), (4, 1, 1); INSERT INTO ZRIVER VALUES (1, 2, 1), (2, 2, 1);
            INSERT INTO ZTAG VALUES (7, 3, 1), (8, 3, 1);
            INSERT INTO Z_1TAGS (Z_1CITIES, Z_3TAGS) VALUES (1, 7), (4, 8);
            INSERT INTO Z_2TAGS (Z_2RIVERS, Z_3TAGS1) VALUES (1, 7), (2, 7), (2, 8);
            """)
        try store.migrate(places("Place"))
        #expect(try store.rows("SELECT Z_PK, Z_ENT FROM ZPLACE ORDER BY 1") == ["1|2", "4|2", "5|3", "6|3"])
        #expect(try store.rows("SELECT Z_2CITIES, Z_4TAGS FROM Z_2TAGS ORDER BY 1, 2") == ["1|7", "4|8"])
        #expect(try store.rows("SELECT Z_3RIVERS, Z_4TAGS1 FROM Z_3TAGS ORDER BY 1, 2") == ["5|7", "6|7", "6|8"])
    }
}
