import FaultlineModel
import FaultlineStore
import Foundation
import Testing

/// Core Data names the table of a relationship between objects of one entity for either side: in one lineage of stores, it was
/// `Z_9TRUSTEDBYCLIENTS`, then `Z_10TRUSTEDCLIENTS`, and then again named for the first side.
@Suite("A store whose join table is named for the other side of its relationship")
struct JoinTableNameTests {
    private let url: URL
    private let model: ManagedObjectModel

    private static func person(_ attributes: AttributeDescription...) -> EntityDescription {
        EntityDescription(
            "Person", attributes: [AttributeDescription("name", .string)] + attributes,
            relationships: [
                RelationshipDescription("followers", to: "Person", inverse: "follows", isToMany: true),
                RelationshipDescription("follows", to: "Person", inverse: "followers", isToMany: true),
            ])
    }

    init() throws {
        url = try TestStore.makeFolder().appendingPathComponent("Store.sqlite")
        model = try ManagedObjectModel(entities: [Self.person()])
        try PersistentContainer(name: "Test", managedObjectModel: model, storeURL: url).close()
        try SQLShell.disguise(url)
        try SQLShell.run(
            """
            ALTER TABLE Z_1FOLLOWERS RENAME TO Z_1FOLLOWS;
            INSERT INTO ZPERSON (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (1, 1, 1, 'Ada'), (2, 1, 1, 'Bob'), (3, 1, 1, 'Cy');
            INSERT INTO Z_1FOLLOWS (Z_1FOLLOWS, Z_1FOLLOWERS) VALUES (1, 2), (1, 3);
            UPDATE Z_PRIMARYKEY SET Z_MAX = 3;
            """, url)
    }

    private func names(_ container: PersistentContainer, _ name: String, _ relationship: String) throws -> [String] {
        let context = container.newBackgroundContext()
        return try context.performAndWait {
            let people = try context.fetch(
                FetchRequest<ManagedObject>(
                    entityName: "Person", predicate: try FetchPredicate(format: "name == %@", name)))
            let person = try #require(people.first)
            return person[ToManyKey<ManagedObject>(relationship)].compactMap { $0["name"] as? String }.sorted()
        }
    }

    @Test("is read and written under that name")
    func opened() throws {
        let container = try PersistentContainer(name: "Test", managedObjectModel: model, storeURL: url)
        // The column that is named for a relationship has the keys of its destination.
        let columns = try SQLShell.run("SELECT Z_1FOLLOWERS FROM Z_1FOLLOWS WHERE Z_1FOLLOWS = 1 ORDER BY 1", url)
        #expect(columns == ["2", "3"])
        #expect(try names(container, "Ada", "followers") == ["Bob", "Cy"])
        #expect(try names(container, "Bob", "follows") == ["Ada"])
        let context = container.newBackgroundContext()
        try context.performAndWait {
            let people = Array(
                try context.fetch(
                    FetchRequest<ManagedObject>(entityName: "Person", sortDescriptors: [.ascending("name")])))
            people[1]["followers"] = Set([people[2]])
            try context.save()
        }
        #expect(
            try SQLShell.run("SELECT Z_1FOLLOWS, Z_1FOLLOWERS FROM Z_1FOLLOWS ORDER BY 1, 2", url)
                == ["1|2", "1|3", "2|3"])
        #expect(try SQLShell.run("SELECT name FROM sqlite_master WHERE name = 'Z_1FOLLOWERS'", url) == [])
    }

    @Test("is migrated with its rows, and then named as in every store of Faultline")
    func migrated() throws {
        var description = PersistentStoreDescription(url: url)
        description.sourceModels = [model]
        let newer = try ManagedObjectModel(entities: [Self.person(AttributeDescription("age", .integer16))])
        let container = try PersistentContainer(name: "New", managedObjectModel: newer, storeDescription: description)
        #expect(try names(container, "Ada", "followers") == ["Bob", "Cy"])
        #expect(
            try SQLShell.run("SELECT Z_1FOLLOWS, Z_1FOLLOWERS FROM Z_1FOLLOWERS ORDER BY 1, 2", url) == ["1|2", "1|3"])
        #expect(try SQLShell.run("SELECT name FROM sqlite_master WHERE name = 'Z_1FOLLOWS'", url) == [])
        try MigratedStore(url: url).checkStructure(of: newer)
    }
}

/// Core Data numbers the columns with the keys of one entity: `Z_24USERS` and `Z_24USERS1` for `Reaction.users` and
/// `SystemMessage.users`, in the order of the user's own relationships.
@Suite("A store whose join columns are numbered")
struct NumberedJoinColumnTests {
    private let url: URL
    private let model: ManagedObjectModel
    private static let named = AttributeDescription("name", .string)

    private static func many(_ name: String, to destination: String, _ inverse: String) -> RelationshipDescription {
        RelationshipDescription(name, to: destination, inverse: inverse, isToMany: true)
    }

    private static func entities(_ first: String = "Answer") -> [EntityDescription] {
        [
            EntityDescription(first, attributes: [named], relationships: [many("users", to: "User", "answers")]),
            EntityDescription("Message", attributes: [named], relationships: [many("users", to: "User", "messages")]),
            EntityDescription(
                "User", attributes: [named],
                relationships: [many("answers", to: first, "users"), many("messages", to: "Message", "users")]),
        ]
    }

    /// - Parameter isNumbered: Whether the columns are numbered as Core Data does, or not at all.
    private static func make(isNumbered: Bool) throws -> URL {
        let url = try TestStore.makeFolder().appendingPathComponent("Store.sqlite")
        let model = try ManagedObjectModel(entities: entities())
        try PersistentContainer(name: "Test", managedObjectModel: model, storeURL: url).close()
        try SQLShell.disguise(url)
        if !isNumbered { try SQLShell.run("ALTER TABLE Z_2USERS RENAME COLUMN Z_3USERS1 TO Z_3USERS", url) }
        let second = isNumbered ? "Z_3USERS1" : "Z_3USERS"
        try SQLShell.run(
            """
            INSERT INTO ZUSER (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (1, 3, 1, 'Ada'), (2, 3, 1, 'Bob');
            INSERT INTO ZANSWER (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (1, 1, 1, 'yes');
            INSERT INTO ZMESSAGE (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (1, 2, 1, 'joined');
            INSERT INTO Z_1USERS (Z_1ANSWERS, Z_3USERS) VALUES (1, 1);
            INSERT INTO Z_2USERS (Z_2MESSAGES, \(second)) VALUES (1, 1), (1, 2);
            UPDATE Z_PRIMARYKEY SET Z_MAX = 2;
            """, url)
        return url
    }

    init() throws {
        model = try ManagedObjectModel(entities: Self.entities())
        url = try Self.make(isNumbered: true)
    }

    private func members(_ container: PersistentContainer, _ entity: String, _ relationship: String) throws -> [String]
    {
        let context = container.newBackgroundContext()
        return try context.performAndWait {
            let objects = try context.fetch(
                FetchRequest<ManagedObject>(entityName: entity, sortDescriptors: [.ascending("name")]))
            return objects.flatMap { object in
                object[ToManyKey<ManagedObject>(relationship)].compactMap { $0["name"] as? String }.sorted()
            }
        }
    }

    @Test("is matched, read and written", arguments: [true, false])
    func opened(_ isNumbered: Bool) throws {
        let url = isNumbered ? url : try Self.make(isNumbered: false)
        #expect(try PersistentStoreCoordinator.mismatch(of: model, withStoreAt: url) == nil)
        let container = try PersistentContainer(name: "Test", managedObjectModel: model, storeURL: url)
        #expect(try members(container, "Message", "users") == ["Ada", "Bob"])
        #expect(try members(container, "User", "answers") == ["yes"])
        let context = container.newBackgroundContext()
        try context.performAndWait {
            let users = try context.fetch(
                FetchRequest<ManagedObject>(entityName: "User", sortDescriptors: [.ascending("name")]))
            users[1]["answers"] = users[0]["answers"]
            users[0]["messages"] = [ManagedObject]()
            try context.save()
        }
        #expect(try SQLShell.run("SELECT * FROM Z_1USERS ORDER BY 2", url) == ["1|1", "1|2"])
        #expect(try SQLShell.run("SELECT * FROM Z_2USERS", url) == ["1|2"])
    }

    @Test("is migrated with its pairs when the entities get other numbers")
    func migrated() throws {
        var description = PersistentStoreDescription(url: url)
        description.sourceModels = [model]
        var entities = Self.entities("Reply")
        entities[0].renamingIdentifier = "Answer"
        let newer = try ManagedObjectModel(entities: entities)
        let container = try PersistentContainer(name: "New", managedObjectModel: newer, storeDescription: description)
        #expect(try members(container, "Message", "users") == ["Ada", "Bob"])
        #expect(try members(container, "User", "answers") == ["yes"])
        try MigratedStore(url: url).checkStructure(of: newer)
    }
}
