import FaultlineMigration
import FaultlineModel
import FaultlineStore
import Foundation
import Testing

@Suite("Relationships change with a model's version, and their objects follow")
struct RelationshipMigrationTests {
    /// Two entities, numbered 1 and 2, with the relationships of each.
    private func model(
        _ author: [RelationshipDescription], _ book: [RelationshipDescription], more: [EntityDescription] = []
    ) -> [EntityDescription] {
        [
            EntityDescription("Author", attributes: [AttributeDescription("name", .string)], relationships: author),
            EntityDescription("Book", attributes: [AttributeDescription("title", .string)], relationships: book),
        ] + more
    }

    private func toMany(
        _ name: String, _ inverse: String?, to entity: String = "Book", isOrdered: Bool = false, was: String? = nil,
        maximumCount: Int = 0
    ) -> RelationshipDescription {
        RelationshipDescription(
            name, to: entity, inverse: inverse, isToMany: true, isOrdered: isOrdered, maximumCount: maximumCount,
            renamingIdentifier: was)
    }

    private func toOne(
        _ name: String, _ inverse: String?, to entity: String = "Author", isOptional: Bool = true, was: String? = nil
    ) -> RelationshipDescription {
        RelationshipDescription(
            name, to: entity, inverse: inverse, isOptional: isOptional, renamingIdentifier: was)
    }

    private static let authors =
        "INSERT INTO ZAUTHOR (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (1, 1, 1, 'A'), (2, 1, 1, 'B'); INSERT INTO ZBOOK (Z_PK, Z_ENT, Z_OPT, ZTITLE) VALUES (10, 2, 1, 'x'), (11, 2, 1, 'y'), (12, 2, 1, 'z');"

    private var oneToMany: [EntityDescription] { model([toMany("books", "author")], [toOne("author", "books")]) }

    private static let keys =
        authors + "UPDATE ZBOOK SET ZAUTHOR = 1 WHERE Z_PK IN (10, 12); UPDATE ZBOOK SET ZAUTHOR = 2 WHERE Z_PK = 11"

    private func manyToMany(_ isOrdered: Bool = false) -> [EntityDescription] {
        model([toMany("books", "authors", isOrdered: isOrdered)], [toMany("authors", "books", to: "Author")])
    }

    private static let join =
        authors + "INSERT INTO Z_1BOOKS (Z_1AUTHORS, Z_2BOOKS) VALUES (1, 10), (1, 12), (2, 12)"

    @Test("New relationships are empty")
    func added() throws {
        let store = try MigratedStore(model([], []), Self.authors)
        try store.migrate(
            model(
                [toMany("books", "author"), toMany("read", "readers", isOrdered: true)],
                [toOne("author", "books"), toMany("readers", "read", to: "Author")]))
        #expect(try store.rows("SELECT ZTITLE, ZAUTHOR FROM ZBOOK") == ["x|NULL", "y|NULL", "z|NULL"])
    }

    @Test("A new required relationship is refused while there are objects")
    func addedRequired() throws {
        let new = model([toMany("books", "author")], [toOne("author", "books", isOptional: false)])
        #expect(
            try MigratedStore(model([], []), Self.authors).refusal(new)
                == "Migrating STORE is refused: 'Book.author' is new, required and without a default value, so 3 Book objects (one has the primary key 10) would have no value; make it optional or give it a default value, or write a mapping model or a custom stage that sets it."
        )
    }

    @Test("A relationship becomes required if each object has one")
    func required() throws {
        let new = model([toMany("books", "author")], [toOne("author", "books", isOptional: false)])
        try MigratedStore(oneToMany, Self.keys).migrate(new)
        #expect(
            try MigratedStore(oneToMany, Self.keys + "; UPDATE ZBOOK SET ZAUTHOR = NULL WHERE Z_PK = 11").refusal(new)
                == "Migrating STORE is refused: 'Book.author' becomes required, but the Book object with the primary key 11 has no value; give it a default value, or set the values in the older version first."
        )
    }

    @Test("Removed relationships leave nothing behind")
    func removed() throws {
        let store = try MigratedStore(oneToMany, Self.keys)
        try store.migrate(model([], []))
        #expect(try store.rows("SELECT * FROM ZBOOK") == ["10|2|1|x", "11|2|1|y", "12|2|1|z"])
        let joined = try MigratedStore(manyToMany(), Self.join)
        try joined.migrate(model([], []))
        #expect(try joined.rows("SELECT name FROM sqlite_master WHERE name LIKE 'Z_1%'") == [])
    }

    @Test("Renamed relationships keep their objects")
    func renamed() throws {
        let store = try MigratedStore(oneToMany, Self.keys)
        try store.migrate(
            model([toMany("works", "writer", was: "books")], [toOne("writer", "works", was: "author")]))
        #expect(try store.rows("SELECT Z_PK, ZWRITER FROM ZBOOK ORDER BY 1") == ["10|1", "11|2", "12|1"])
        let joined = try MigratedStore(manyToMany(), Self.join)
        try joined.migrate(
            model(
                [toMany("works", "writers", was: "books")], [toMany("writers", "works", to: "Author", was: "authors")]))
        #expect(try joined.rows("SELECT Z_1WRITERS, Z_2WORKS FROM Z_1WORKS ORDER BY 1, 2") == ["1|10", "1|12", "2|12"])
    }

    @Test("One side that keeps its name or identifier is enough to keep the objects")
    func renamedOnOneSide() throws {
        let store = try MigratedStore(oneToMany, Self.keys)
        try store.migrate(model([toMany("books", "writer")], [toOne("writer", "books")]))
        #expect(try store.rows("SELECT Z_PK, ZWRITER FROM ZBOOK ORDER BY 1") == ["10|1", "11|2", "12|1"])
    }

    @Test("A to-one relationship becomes to-many, with a to-one or a to-many inverse")
    func toMany() throws {
        let store = try MigratedStore(oneToMany, Self.keys)
        try store.migrate(
            model([toMany("books", "authors")], [toMany("authors", "books", to: "Author", was: "author")]))
        #expect(try store.rows("SELECT Z_1AUTHORS, Z_2BOOKS FROM Z_1BOOKS ORDER BY 1, 2") == ["1|10", "1|12", "2|11"])
        let single = try MigratedStore(
            model([toOne("book", "author", to: "Book")], [toOne("author", "book")]),
            Self.authors + "UPDATE ZAUTHOR SET ZBOOK = 11 WHERE Z_PK = 1; UPDATE ZBOOK SET ZAUTHOR = 1 WHERE Z_PK = 11")
        try single.migrate(model([toMany("books", "author", was: "book")], [toOne("author", "books")]))
        #expect(try single.rows("SELECT Z_PK, ZAUTHOR FROM ZBOOK ORDER BY 1") == ["10|NULL", "11|1", "12|NULL"])
    }

    @Test("The key of a one-way relationship moves to the other table")
    func movedKey() throws {
        let store = try MigratedStore(
            model([toOne("book", nil, to: "Book")], []), Self.authors + "UPDATE ZAUTHOR SET ZBOOK = 11 WHERE Z_PK = 2")
        try store.migrate(model([toMany("books", "author", was: "book")], [toOne("author", "books")]))
        #expect(try store.rows("SELECT Z_PK, ZAUTHOR FROM ZBOOK ORDER BY 1") == ["10|NULL", "11|2", "12|NULL"])
    }

    @Test("A to-many relationship does not become to-one, and neither does its inverse")
    func toOne() throws {
        #expect(
            try MigratedStore(manyToMany(), Self.join).refusal(
                model([toMany("books", "author")], [toOne("author", "books", was: "authors")])
            )
            .contains("'Author.books': its inverse 'author' changes from to-many to to-one"))
        #expect(
            try MigratedStore(oneToMany, Self.keys).refusal(
                model([toOne("books", "author", to: "Book")], [toOne("author", "books")]))
                == "Migrating STORE is refused. No mapping can be inferred for 'Author.books': it changes from to-many to to-one, and the models do not say which object stays; write a mapping model or a custom stage for it."
        )
    }

    @Test("An object to which several refer does not get one of them back")
    func shared() throws {
        // A relationship that is renamed at one end continues the other one.
        let paired = model([toOne("book", "author", to: "Book")], [toOne("author", "book")])
        let refusal =
            "Migrating STORE is refused: 'Author.book' can refer to one object, but the Book object with the primary key 12 refers to an object that another one also refers to; leave one of them in the older version first, or write a mapping model or a custom stage that chooses."
        #expect(try MigratedStore(oneToMany, Self.keys).refusal(paired) == refusal)
        let oneWay = model([], [toOne("author", nil)])
        #expect(try MigratedStore(oneWay, Self.keys).refusal(paired) == refusal)
        let distinct = try MigratedStore(oneWay, Self.authors + "UPDATE ZBOOK SET ZAUTHOR = 2 WHERE Z_PK = 11")
        try distinct.migrate(paired)
        #expect(try distinct.rows("SELECT Z_PK, ZBOOK FROM ZAUTHOR ORDER BY 1") == ["1|NULL", "2|11"])
        // The key moves to the table of the other end, where there is room for one.
        #expect(
            try MigratedStore(
                model([toOne("book", nil, to: "Book")], []), Self.authors + "UPDATE ZAUTHOR SET ZBOOK = 11"
            )
            .refusal(model([toMany("books", "author", was: "book")], [toOne("author", "books")]))
            .hasPrefix(
                "Migrating STORE is refused: 'Book.author' can refer to one object, but the Author object with the primary key 2 refers"
            ))
    }

    @Test("Objects stay when a relationship becomes ordered, and when it is no longer", arguments: [false, true])
    func ordered(isManyToMany: Bool) throws {
        func model(_ isOrdered: Bool) -> [EntityDescription] {
            isManyToMany
                ? manyToMany(isOrdered)
                : self.model([toMany("books", "author", isOrdered: isOrdered)], [toOne("author", "books")])
        }
        let store = try MigratedStore(model(false), isManyToMany ? Self.join : Self.keys)
        func books() throws -> [String?] {
            let container = try PersistentContainer(
                name: "Test", managedObjectModel: ManagedObjectModel(entities: model(true)), storeURL: store.url)
            let context = container.newBackgroundContext()
            return try context.performAndWait {
                var request = FetchRequest<ManagedObject>(entityName: "Author")
                request.predicate = try FetchPredicate(format: "name == 'A'")
                let author = try #require(try context.fetch(request).first)
                return author[ToManyKey<ManagedObject>("books")].map { $0["title"] as? String }
            }
        }
        try store.migrate(model(true))
        #expect(try books() == ["x", "z"])
        let (table, column) = isManyToMany ? ("Z_1BOOKS", "Z_FOK_2BOOKS") : ("ZBOOK", "Z_FOK_AUTHOR")
        let key = isManyToMany ? "Z_2BOOKS" : "Z_PK"
        try store.rows("UPDATE \(table) SET \(column) = 100 - \(key)")
        #expect(try books() == ["z", "x"])
        // The order survives a change of something else.
        try store.migrate(model(true) + [EntityDescription("Another")])
        try store.migrate(model(true))
        #expect(try books() == ["z", "x"])
        try store.migrate(model(false))
    }

    @Test("The order of members moves with the key into a join table")
    func orderIntoJoinTable() throws {
        let store = try MigratedStore(
            model([toMany("books", "author", isOrdered: true)], [toOne("author", "books")]),
            Self.keys + "; UPDATE ZBOOK SET Z_FOK_AUTHOR = 100 - Z_PK")
        try store.migrate(
            model(
                [toMany("books", "authors", isOrdered: true)],
                [toMany("authors", "books", to: "Author", was: "author")]))
        #expect(
            try store.rows("SELECT Z_2BOOKS FROM Z_1BOOKS WHERE Z_1AUTHORS = 1 ORDER BY Z_FOK_2BOOKS") == ["12", "10"])
    }

    @Test("Counts and inverses change without a change of the objects")
    func settings() throws {
        let store = try MigratedStore(oneToMany, Self.keys)
        try store.migrate(model([toMany("books", "author", maximumCount: 3)], [toOne("author", "books")]))
        try store.migrate(model([], [toOne("author", nil)]))
        #expect(try store.rows("SELECT Z_PK, ZAUTHOR FROM ZBOOK ORDER BY 1") == ["10|1", "11|2", "12|1"])
    }

    @Test("A destination that was renamed keeps the objects")
    func renamedDestination() throws {
        let store = try MigratedStore(oneToMany, Self.keys)
        try store.migrate(
            [
                EntityDescription(
                    "Writer", attributes: [AttributeDescription("name", .string)],
                    relationships: [toMany("books", "author")], renamingIdentifier: "Author"),
                EntityDescription(
                    "Book", attributes: [AttributeDescription("title", .string)],
                    relationships: [toOne("author", "books", to: "Writer")]),
            ])
        #expect(try store.rows("SELECT Z_PK, Z_ENT, ZAUTHOR FROM ZBOOK") == ["10|1|1", "11|1|2", "12|1|1"])
    }

    @Test("A destination that gains subentities, or becomes the parent, has the number of each object's entity")
    func subentities() throws {
        let poet = EntityDescription("Poet", parent: "Author")
        let store = try MigratedStore(oneToMany, Self.keys)
        try store.migrate(model([toMany("books", "author")], [toOne("author", "books")], more: [poet]))
        #expect(try store.rows("SELECT Z_PK, ZAUTHOR, Z1_AUTHOR FROM ZBOOK") == ["10|1|1", "11|2|1", "12|1|1"])
        try store.rows("UPDATE ZAUTHOR SET Z_ENT = 2 WHERE Z_PK = 2; UPDATE ZBOOK SET Z1_AUTHOR = 2 WHERE ZAUTHOR = 2")
        // A new entity before the others shifts all numbers.
        let more = [poet, EntityDescription("Another")]
        try store.migrate(model([toMany("books", "author")], [toOne("author", "books")], more: more))
        #expect(try store.rows("SELECT Z_PK, ZAUTHOR, Z2_AUTHOR FROM ZBOOK") == ["10|1|2", "11|2|3", "12|1|2"])
        // Another program left the entities out.
        try store.rows("UPDATE ZBOOK SET Z2_AUTHOR = NULL")
        let person = EntityDescription(
            "Person", attributes: [AttributeDescription("name", .string)], relationships: [toMany("books", "author")])
        try store.migrate(
            [
                person, EntityDescription("Author", parent: "Person"), poet,
                EntityDescription(
                    "Book", attributes: [AttributeDescription("title", .string)],
                    relationships: [toOne("author", "books", to: "Person")]),
            ])
        #expect(try store.rows("SELECT Z_PK, ZAUTHOR, Z2_AUTHOR FROM ZBOOK") == ["10|1|3", "11|2|4", "12|1|3"])
    }

    @Test("A destination that is another entity is refused")
    func otherDestination() throws {
        #expect(
            try MigratedStore(
                oneToMany + [EntityDescription("City")], Self.keys
            ).refusal(
                [
                    EntityDescription("Author", attributes: [AttributeDescription("name", .string)]),
                    EntityDescription(
                        "Book", attributes: [AttributeDescription("title", .string)],
                        relationships: [toOne("author", nil, to: "City")]), EntityDescription("City"),
                ])
                == "Migrating STORE is refused. No mapping can be inferred for 'Book.author': its destination changes from 'Author' to 'City', which does not contain the objects of the former; write a mapping model or a custom stage for it."
        )
    }

    @Test("A many-to-many relationship of an entity with itself, and one that is its own inverse")
    func reflexive() throws {
        func person(_ names: [String]) -> [EntityDescription] {
            names.map { EntityDescription($0) } + [
                EntityDescription(
                    "Person",
                    relationships: [
                        toMany("friends", "friends", to: "Person"), toMany("follows", "followers", to: "Person"),
                        toMany("followers", "follows", to: "Person"),
                    ])
            ]
        }
        let store = try MigratedStore(
            person([]),
            "INSERT INTO ZPERSON (Z_PK, Z_ENT, Z_OPT) VALUES (1, 1, 1), (2, 1, 1), (3, 1, 1); INSERT INTO Z_1FRIENDS VALUES (1, 2), (2, 1); INSERT INTO Z_1FOLLOWERS (Z_1FOLLOWS, Z_1FOLLOWERS) VALUES (1, 2), (1, 3)"
        )
        try store.migrate(person(["Another"]))
        #expect(try store.rows("SELECT Z_2FRIENDS, REFLEXIVE FROM Z_2FRIENDS ORDER BY 1") == ["1|2", "2|1"])
        #expect(try store.rows("SELECT Z_2FOLLOWS, Z_2FOLLOWERS FROM Z_2FOLLOWERS ORDER BY 2") == ["1|2", "1|3"])
    }

    @Test("Renumbering leaves one index on a join table, whatever older versions left behind")
    func joinIndexes() throws {
        let store = try MigratedStore(manyToMany(), Self.join)
        try store.rows("CREATE INDEX Z_1BOOKS_Z_9BOOKS_INDEX ON Z_1BOOKS (Z_2BOOKS, Z_1AUTHORS)")
        let entities = manyToMany() + [EntityDescription("Another")]
        try store.migrate(entities)
        #expect(
            try store.rows(
                "SELECT COUNT(*) FROM sqlite_master WHERE type = 'index' AND tbl_name = 'Z_2BOOKS' AND sql NOT NULL")
                == ["1"])
        #expect(try store.rows("SELECT Z_2AUTHORS, Z_3BOOKS FROM Z_2BOOKS ORDER BY 1, 2") == ["1|10", "1|12", "2|12"])
    }

    @Test("The side that names a join table changes when the entities change places")
    func otherSide() throws {
        let store = try MigratedStore(manyToMany(), Self.join)
        try store.migrate(
            [
                EntityDescription(
                    "Writer", attributes: [AttributeDescription("name", .string)],
                    relationships: [toMany("books", "authors")], renamingIdentifier: "Author"),
                EntityDescription(
                    "Book", attributes: [AttributeDescription("title", .string)],
                    relationships: [toMany("authors", "books", to: "Writer")]),
            ])
        #expect(
            try store.rows("SELECT Z_2AUTHORS, Z_1BOOKS FROM Z_1AUTHORS ORDER BY 1, 2") == ["1|10", "1|12", "2|12"])
    }
}
