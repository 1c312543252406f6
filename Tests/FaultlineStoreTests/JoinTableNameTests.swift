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

    /// Makes a store as Core Data writes it: without this library's copy of the model and without its key in the metadata.
    init() throws {
        url = try TestStore.makeFolder().appendingPathComponent("Store.sqlite")
        model = try ManagedObjectModel(entities: [Self.person()])
        try PersistentContainer(name: "Test", managedObjectModel: model, storeURL: url).close()
        guard case .blob(let data)? = try SQLShell.cells("SELECT Z_PLIST FROM Z_METADATA", url).first?["Z_PLIST"],
            var list = try PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any]
        else { return }
        list = list.filter { !$0.key.hasPrefix("Faultline") }
        let hex = try PropertyListSerialization.data(fromPropertyList: list, format: .binary, options: 0)
            .map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        try SQLShell.run(
            """
            UPDATE Z_METADATA SET Z_PLIST = x'\(hex)'; DROP TABLE Z_FAULTLINE;
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
