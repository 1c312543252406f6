import FaultlineModel
import FaultlineStore
import Foundation
import TruthKit

/// A thing of some kind, which somebody owns.
final class Thing: ManagedObject {
    static let numberKey = AttributeKey<Int>("number")
    static let groupKey = AttributeKey<Int>("group")
    static let sizeKey = AttributeKey<Int>("size")
    static let textKey = AttributeKey<String>("text")
    static let payloadKey = AttributeKey<Data?>("payload")
    static let ownerKey = ToOneKey<Owner>("owner")
    var number: Int { self[Self.numberKey] }
    var size: Int { self[Self.sizeKey] }
    var text: String { self[Self.textKey] }
    var payload: Data? { self[Self.payloadKey] }
    var owner: Owner? { self[Self.ownerKey] }
}

/// Somebody who owns things.
final class Owner: ManagedObject {
    static let nameKey = AttributeKey<String>("name")
    static let thingsKey = ToManyKey<Thing>("things")
    var name: String { self[Self.nameKey] }
}

/// The store that workloads read.
struct TruthStore {
    var url: URL
    /// Things in it.
    var rows: Int
    /// The share of the things that a search finds, 0…1.
    var share: Double

    /// Reads `fill <store> <rows> <share>` from arguments.
    init(_ arguments: [String]) throws {
        guard let rows = Int(arguments[2]), let share = Double(arguments[3]), rows > 0, share > 0 else {
            throw CommandFailed(description: "There are no \(arguments[2]) rows of which \(arguments[3]) are found.")
        }
        (url, self.rows, self.share) = (URL(fileURLWithPath: arguments[1]), rows, share)
    }

    /// Groups of things, each of which is the share of them.
    var groups: Int { max(2, Int((1 / share).rounded())) }
    var owners: Int { max(10, rows / 20) }

    func open() throws -> PersistentContainer {
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                "Thing",
                attributes: [
                    AttributeDescription("number", .integer64, isOptional: false),
                    AttributeDescription("group", .integer64, isOptional: false),
                    AttributeDescription("size", .integer64, isOptional: false),
                    AttributeDescription("text", .string, isOptional: false), AttributeDescription("payload", .binary),
                ], relationships: [RelationshipDescription("owner", to: "Owner", inverse: "things")],
                indexes: [FetchIndexDescription("byNumber", on: "number")]),
            EntityDescription(
                "Owner", attributes: [AttributeDescription("name", .string, isOptional: false)],
                relationships: [RelationshipDescription("things", to: "Thing", inverse: "owner", isToMany: true)]),
        ])
        return try PersistentContainer(
            name: "Truth", managedObjectModel: model, storeURL: url, classes: [Thing.self, Owner.self])
    }

    /// Fills a new store; things of one group lie apart from each other, as those of one owner do.
    func fill() throws {
        let context = try open().newBackgroundContext()
        var random = SplitMix(state: UInt64(rows))
        try context.performAndWait {
            let owners = (0..<owners).map { number in
                let owner = Owner(context: context)
                owner[Owner.nameKey] = "Owner \(number)"
                return owner
            }
            for number in 0..<rows {
                let thing = Thing(context: context)
                thing[Thing.numberKey] = number
                thing[Thing.groupKey] = Int(random.next() % UInt64(groups))
                thing[Thing.sizeKey] = Int(random.next() % 1000)
                thing[Thing.textKey] =
                    "\(number) the train to \(random.next() % 500) leaves when \(random.next() % 500) does"
                thing[Thing.payloadKey] = number.isMultiple(of: 3) ? Data(count: 3000) : nil
                thing[Thing.ownerKey] = owners[Int(random.next() % UInt64(owners.count))]
            }
            try context.save()
        }
    }
}

/// Numbers that are the same in each run (Steele, Lea and Flood: Fast splittable pseudorandom number generators, 2014).
struct SplitMix {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
