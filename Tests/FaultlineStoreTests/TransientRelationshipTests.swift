import FaultlineModel
import FaultlineStore
import Foundation
import Testing

@Suite("Transient relationships live in memory only")
struct TransientRelationshipTests {
    private static func model() throws -> ManagedObjectModel {
        let name = AttributeDescription("name", .string)
        func end(
            _ name: String, to destination: String, _ inverse: String?, isToMany: Bool = false, isOrdered: Bool = false,
            _ rule: DeleteRule = .nullify
        ) -> RelationshipDescription {
            RelationshipDescription(
                name, to: destination, inverse: inverse, isToMany: isToMany, isOrdered: isOrdered,
                isOptional: false, isTransient: true, deleteRule: rule)
        }
        return try ManagedObjectModel(entities: [
            EntityDescription(
                "Driver", attributes: [name],
                relationships: [
                    end("car", to: "Vehicle", "driver"), end("seen", to: "Vehicle", "seenBy", isToMany: true),
                    end("queue", to: "Vehicle", "queuedFor", isToMany: true, isOrdered: true, .cascade),
                    end("favorites", to: "Vehicle", nil, isToMany: true),
                ]),
            EntityDescription(
                "Vehicle", attributes: [name],
                relationships: [
                    end("driver", to: "Driver", "car"), end("seenBy", to: "Driver", "seen", isToMany: true),
                    end("queuedFor", to: "Driver", "queue"),
                ]),
        ])
    }

    private let url: URL
    private let container: PersistentContainer
    private let context: ManagedObjectContext
    private static let car = ToOneKey<ManagedObject>("car")
    private static let driver = ToOneKey<ManagedObject>("driver")
    private static let seen = ToManyKey<ManagedObject>("seen")
    private static let seenBy = ToManyKey<ManagedObject>("seenBy")
    private static let queue = OrderedToManyKey<ManagedObject>("queue")
    private static let favorites = ToManyKey<ManagedObject>("favorites")

    init() throws {
        url = try TestStore.makeFolder().appendingPathComponent("Store.sqlite")
        container = try PersistentContainer(name: "Test", managedObjectModel: try Self.model(), storeURL: url)
        context = container.newBackgroundContext()
    }

    /// Makes and saves two drivers and two vehicles.
    private func fill() throws -> (drivers: [ManagedObject], vehicles: [ManagedObject]) {
        func make(_ entity: String) -> [ManagedObject] {
            ["a", "b"].map { name in
                let object = context.insertNewObject(forEntityName: entity)
                object["name"] = name
                return object
            }
        }
        let made = (make("Driver"), make("Vehicle"))
        try context.save()
        return made
    }

    @Test("They are maintained at both ends, and no save writes them")
    func bothEnds() throws {
        try context.performAndWait {
            let (drivers, vehicles) = try fill()
            drivers[0][Self.car] = vehicles[0]
            #expect(vehicles[0][Self.driver] === drivers[0])
            vehicles[0][Self.driver] = drivers[1]
            #expect(drivers[0][Self.car] == nil && drivers[1]["car"] as? ManagedObject === vehicles[0])
            drivers[0][Self.seen].add(contentsOf: vehicles)
            #expect(Array(vehicles[1][Self.seenBy]) == [drivers[0]] && !drivers[0][Self.seen].isFault)
            vehicles[1][Self.seenBy].remove(drivers[0])
            #expect(Array(drivers[0][Self.seen]) == [vehicles[0]])
            drivers[0][Self.queue].add(contentsOf: vehicles)
            drivers[0]["queue"] = [vehicles[1], vehicles[0]]
            #expect(Array(drivers[0][Self.queue]) == [vehicles[1], vehicles[0]])
            #expect(vehicles[1]["queuedFor"] as? ManagedObject === drivers[0])
            drivers[0][Self.favorites].add(vehicles[0])
            #expect(drivers[0].changedValues().isEmpty && !drivers[0].hasPersistentChangedValues)
            #expect(drivers[0].primitiveValue(forKey: "car") == nil)
            #expect(drivers[1].primitiveValue(forKey: "car") as? ManagedObject === vehicles[0])
            #expect(drivers[1].objectIDs(forRelationshipNamed: "car") == [vehicles[0].objectID])
            let before = try SQLShell.run("SELECT Z_OPT FROM ZDRIVER UNION ALL SELECT Z_OPT FROM ZVEHICLE", url)
            try context.save()
            #expect(try SQLShell.run("SELECT Z_OPT FROM ZDRIVER UNION ALL SELECT Z_OPT FROM ZVEHICLE", url) == before)
            // They outlive the save, and a refresh that keeps changes.
            for isRefreshed in [false, true] {
                if isRefreshed { context.refreshAllObjects() }
                #expect(drivers[1][Self.car] === vehicles[0] && Array(drivers[0][Self.seen]) == [vehicles[0]])
                #expect(Array(drivers[0][Self.queue]) == [vehicles[1], vehicles[0]])
                #expect(Array(drivers[0][Self.favorites]) == [vehicles[0]])
            }
            context.refresh(drivers[0], mergeChanges: false)
            context.refresh(drivers[1], mergeChanges: false)
            #expect(drivers[1][Self.car] == nil && drivers[0][Self.seen].isEmpty && drivers[0][Self.queue].isEmpty)
            #expect(drivers[0]["name"] as? String == "a")
        }
        #expect(
            try SQLShell.run("SELECT name FROM pragma_table_info('ZDRIVER')", url) == [
                "Z_PK", "Z_ENT", "Z_OPT", "ZNAME",
            ])
        let other = container.newBackgroundContext()
        try other.performAndWait {
            let drivers = try other.fetch(FetchRequest<ManagedObject>(entityName: "Driver"))
            #expect(drivers[1][Self.car] == nil && drivers[0][Self.seen].isEmpty)
        }
    }

    @Test("Deleting an object follows their delete rules")
    func deletion() throws {
        try context.performAndWait {
            let (drivers, vehicles) = try fill()
            drivers[0][Self.car] = vehicles[0]
            drivers[0][Self.seen].add(contentsOf: vehicles)
            drivers[1][Self.queue].add(vehicles[1])
            context.delete(drivers[0])
            #expect(vehicles[0][Self.driver] == nil && vehicles[1][Self.seenBy].isEmpty)
            context.delete(drivers[1])
            #expect(vehicles[1].isDeleted && !vehicles[0].isDeleted)
            try context.save()
        }
        #expect(try SQLShell.run("SELECT ZNAME FROM ZVEHICLE", url) == ["a"])
        #expect(try SQLShell.run("SELECT COUNT(*) FROM ZDRIVER", url) == ["0"])
    }

    @Test("Changes of them can be undone and redone")
    func undo() throws {
        try context.performAndWait {
            let (drivers, vehicles) = try fill()
            let undoManager = UndoManager()
            context.undoManager = undoManager
            undoManager.groupsByEvent = false
            func group(_ change: () -> Void) {
                undoManager.beginUndoGrouping()
                change()
                undoManager.endUndoGrouping()
            }
            group {
                drivers[0][Self.car] = vehicles[0]
                drivers[0][Self.seen].add(vehicles[1])
            }
            group { drivers[1][Self.car] = vehicles[0] }
            undoManager.undo()
            #expect(drivers[0][Self.car] === vehicles[0] && vehicles[0][Self.driver] === drivers[0])
            #expect(drivers[1][Self.car] == nil)
            undoManager.undo()
            #expect(drivers[0][Self.car] == nil && vehicles[0][Self.driver] == nil)
            #expect(drivers[0][Self.seen].isEmpty && vehicles[1][Self.seenBy].isEmpty)
            undoManager.redo()
            #expect(drivers[0][Self.car] === vehicles[0] && Array(drivers[0][Self.seen]) == [vehicles[1]])
        }
    }

    @Test("Fetches reject them, because the store has nothing of them")
    func fetches() throws {
        try context.performAndWait {
            _ = try fill()
            func failure(_ change: (FetchRequest<ManagedObject>) throws -> FetchRequest<ManagedObject>) -> String {
                performing {
                    _ = try context.fetch(change(FetchRequest<ManagedObject>(entityName: "Driver")))
                }
            }
            for (format, name) in [
                ("car.name == 'a'", "car"), ("ANY seen.name == 'a'", "seen"), ("queue.@count > 1", "queue"),
            ] {
                let text = failure { request in
                    var request = request
                    request.predicate = try FetchPredicate(format: format)
                    return request
                }
                #expect(
                    text.hasSuffix(
                        "goes through '\(name)', which is transient and not in the store; use a stored relationship."),
                    "\(text)")
            }
            #expect(
                failure { request in
                    var request = request
                    request.relationshipKeyPathsForPrefetching = ["seen"]
                    return request
                }
                    == "Fetching Driver: 'seen' cannot be prefetched because Driver has no stored relationship 'seen'; correct the key path."
            )
        }
    }

    @Test("A child context saves to its parent without them")
    func child() throws {
        try context.performAndWait {
            let (drivers, vehicles) = try fill()
            drivers[0][Self.car] = vehicles[0]
            let child = ManagedObjectContext(parent: context)
            try child.performAndWait {
                let driver = child.object(with: drivers[0].objectID)
                driver[Self.car] = child.object(with: vehicles[1].objectID)
                driver["name"] = "c"
                try child.save()
            }
            #expect(drivers[0]["name"] as? String == "c" && drivers[0][Self.car] === vehicles[0])
        }
    }

    @Test("A required one needs no object, and a batch deletion leaves it out")
    func batches() throws {
        try context.performAndWait {
            _ = try fill()
            _ = try context.execute(
                BatchDeleteRequest(fetchRequest: FetchRequest<ManagedObject>(entityName: "Driver")))
        }
        #expect(try SQLShell.run("SELECT COUNT(*) FROM ZDRIVER", url) == ["0"])
        #expect(try SQLShell.run("SELECT COUNT(*) FROM ZVEHICLE", url) == ["2"])
    }
}
