import FaultlineModel
import FaultlineStore
import Foundation
import Testing

/// The members' rows have the key of their owner, although their entity has no relationship to it.
@Suite("To-many relationships without an inverse are read and saved")
struct OneWayRelationshipTests {
    private static let name = AttributeDescription("name", .string)

    private static func model(
        _ person: [RelationshipDescription], _ car: [RelationshipDescription] = [], count: Bool = false
    ) throws -> ManagedObjectModel {
        let counter = AttributeDescription("likeCount", .integer32, derivationExpression: "likes.@count")
        return try ManagedObjectModel(entities: [
            EntityDescription("Car", attributes: [name], relationships: car),
            EntityDescription("Person", attributes: count ? [name, counter] : [name], relationships: person),
        ])
    }

    private static func likes(
        isOrdered: Bool = false, _ rule: DeleteRule = .nullify, inverse: String? = nil
    ) -> RelationshipDescription {
        RelationshipDescription(
            "likes", to: "Car", inverse: inverse, isToMany: true, isOrdered: isOrdered, deleteRule: rule)
    }

    private static let likes = ToManyKey<ManagedObject>("likes")

    /// Creates a store with two people, of whom the first one likes two cars.
    private static func make(_ model: ManagedObjectModel) throws -> (URL, PersistentContainer) {
        let url = try TestStore.makeFolder().appendingPathComponent("Store.sqlite")
        let container = try PersistentContainer(name: "Test", managedObjectModel: model, storeURL: url)
        let context = container.newBackgroundContext()
        try context.performAndWait {
            func make(_ entity: String, _ names: String...) -> [ManagedObject] {
                names.map { name in
                    let object = context.insertNewObject(forEntityName: entity)
                    object["name"] = name
                    return object
                }
            }
            let people = make("Person", "Ada", "Bob")
            try context.save()
            people[0]["likes"] = make("Car", "Mini", "Beetle")
            _ = make("Car", "2CV")
            try context.save()
        }
        return (url, container)
    }

    private func people(_ context: ManagedObjectContext) throws -> [ManagedObject] {
        Array(
            try context.fetch(
                FetchRequest<ManagedObject>(entityName: "Person", sortDescriptors: [.ascending("name")])))
    }

    private func names(_ members: some Sequence<ManagedObject>) -> [String] {
        members.compactMap { $0["name"] as? String }
    }

    @Test("Members are added, removed, moved to another owner, counted and found")
    func members() throws {
        let (url, container) = try Self.make(Self.model([Self.likes()], count: true))
        let owners = "SELECT ZNAME, IFNULL(Z1LIKES, 0) FROM ZCAR ORDER BY ZNAME"
        #expect(try SQLShell.run(owners, url) == ["2CV|0", "Beetle|1", "Mini|1"])
        let context = container.newBackgroundContext()
        try context.performAndWait {
            let people = try people(context)
            #expect(names(people[0][Self.likes]).sorted() == ["Beetle", "Mini"] && people[1][Self.likes].isEmpty)
            let mini = try #require(people[0][Self.likes].first { $0["name"] as? String == "Mini" })
            people[0][Self.likes].remove(mini)
            people[1][Self.likes].add(mini)
            try context.save()
        }
        #expect(try SQLShell.run(owners, url) == ["2CV|0", "Beetle|1", "Mini|2"])
        #expect(try SQLShell.run("SELECT ZNAME, ZLIKECOUNT FROM ZPERSON ORDER BY 1", url) == ["Ada|1", "Bob|1"])
        let other = container.newBackgroundContext()
        try other.performAndWait {
            var request = FetchRequest<ManagedObject>(
                entityName: "Person", predicate: try FetchPredicate(format: "ANY likes.name == 'Mini'"))
            request.relationshipKeyPathsForPrefetching = ["likes"]
            let found = try other.fetch(request)
            #expect(names(found) == ["Bob"] && names(found[0][Self.likes]) == ["Mini"])
            #expect(
                try other.count(
                    for: FetchRequest<ManagedObject>(
                        entityName: "Person", predicate: try FetchPredicate(format: "likes.@count == 1"))) == 2)
            found[0][Self.likes].remove(found[0][Self.likes][0])
            try other.save()
            #expect(found[0][Self.likes].isEmpty)
        }
        #expect(try SQLShell.run(owners, url) == ["2CV|0", "Beetle|1", "Mini|0"])
    }

    @Test(
        "Deleting an owner clears the keys, or follows the delete rule",
        arguments: [DeleteRule.nullify, .noAction, .cascade])
    func deletion(_ rule: DeleteRule) throws {
        for isBatch in [false, true] {
            let (url, container) = try Self.make(Self.model([Self.likes(rule)]))
            let context = container.newBackgroundContext()
            try context.performAndWait {
                if isBatch {
                    _ = try context.execute(
                        BatchDeleteRequest(
                            fetchRequest: FetchRequest<ManagedObject>(
                                entityName: "Person", predicate: try FetchPredicate(format: "name == 'Ada'")))
                    )
                } else {
                    context.delete(try people(context)[0])
                    try context.save()
                }
            }
            #expect(
                try SQLShell.run("SELECT ZNAME, IFNULL(Z1LIKES, 0) FROM ZCAR ORDER BY ZNAME", url)
                    == (rule == .cascade ? ["2CV|0"] : ["2CV|0", "Beetle|0", "Mini|0"]))
            #expect(try SQLShell.run("SELECT ZNAME FROM ZPERSON", url) == ["Bob"])
        }
    }

    @Test("An ordered one keeps its order")
    func ordered() throws {
        let (_, container) = try Self.make(Self.model([Self.likes(isOrdered: true)]))
        let key = OrderedToManyKey<ManagedObject>("likes")
        let context = container.newBackgroundContext()
        try context.performAndWait {
            let ada = try people(context)[0]
            #expect(names(ada[key]) == ["Mini", "Beetle"])
            ada["likes"] = Array(ada[key].reversed())
            try context.save()
        }
        let other = container.newBackgroundContext()
        let order = try other.performAndWait { try names(people(other)[0][key]) }
        #expect(order == ["Beetle", "Mini"])
    }

    @Test("A store of Core Data can number the column otherwise, or lack it")
    func columns() throws {
        let model = try Self.model([Self.likes()])
        let (url, container) = try Self.make(model)
        try container.close()
        try SQLShell.disguise(url)
        try SQLShell.run("ALTER TABLE ZCAR RENAME COLUMN Z1LIKES TO Z2LIKES", url)
        #expect(try PersistentStoreCoordinator.mismatch(of: model, withStoreAt: url) == nil)
        let opened = try PersistentContainer(name: "Test", managedObjectModel: model, storeURL: url)
        let context = opened.newBackgroundContext()
        let found = try context.performAndWait { try names(people(context)[0][Self.likes]).sorted() }
        #expect(found == ["Beetle", "Mini"])
        try opened.close()
        try SQLShell.run("DROP INDEX ZCAR_Z1LIKES_INDEX; ALTER TABLE ZCAR DROP COLUMN Z2LIKES", url)
        #expect(
            performing { _ = try PersistentContainer(name: "Test", managedObjectModel: model, storeURL: url) }
                == "The store '\(url.path)' does not support 'Person.likes', a to-many relationship without an inverse, for which it has no column; change it in the model."
        )
    }

    @Test("Migrations keep the members, give them an inverse, and take it away")
    func migrations() throws {
        func migrate(
            _ old: ManagedObjectModel, _ new: ManagedObjectModel
        ) throws -> PersistentContainer {
            let (url, container) = try Self.make(old)
            try container.close()
            return try MigratedStore(url: url).migrate(to: new)
        }
        let fans = RelationshipDescription("fan", to: "Person", inverse: "likes")
        let oneWay = try Self.model([Self.likes(isOrdered: true)])
        let twoWay = try Self.model([Self.likes(isOrdered: true, inverse: "fan")], [fans])
        // A new entity before the others changes the number in the column's name.
        let numbered = try ManagedObjectModel(
            entities: oneWay.entities + [EntityDescription("Alpha", attributes: [Self.name])])
        for (old, new) in [(oneWay, numbered), (oneWay, twoWay), (twoWay, oneWay)] {
            let container = try migrate(old, new)
            let context = container.newBackgroundContext()
            try context.performAndWait {
                let people = try people(context)
                #expect(names(people[0][OrderedToManyKey<ManagedObject>("likes")]) == ["Mini", "Beetle"])
                #expect(people[1][OrderedToManyKey<ManagedObject>("likes")].isEmpty)
            }
        }
        let many = RelationshipDescription("fans", to: "Person", inverse: "likes", isToMany: true)
        let (url, container) = try Self.make(Self.model([Self.likes(inverse: "fans")], [many]))
        try container.close()
        #expect(
            try MigratedStore(url: url).refusal(Self.model([Self.likes()]).entities)
                == "Migrating STORE is refused because 'Person.likes' loses its inverse, so an object can be a member of one owner only, which the older objects need not be; keep the inverse, or write a mapping model."
        )
    }
}
