import CSQLitePeer
import FaultlineModel
import FaultlineRecorder
import FaultlineStore
import Foundation

/// The rows that every arm reads: 10,000 people with two texts and four numbers each.
struct People {
    static let count = 10_000

    let container: PersistentContainer
    let url: URL

    /// Makes the store in a directory of its own.
    ///
    /// Nothing is recorded.
    init() throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("faultline-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        url = directory.appendingPathComponent("people.sqlite")
        container = try PersistentContainer(
            name: "People", managedObjectModel: Self.model(), storeURL: url, classes: [Person.self], recorder: .off())
        let context = container.newBackgroundContext()
        try context.performAndWait {
            for index in 0..<Self.count {
                let person = Person(context: context)
                person[Person.firstName] = "First name \(index % 321)"
                person[Person.lastName] = "Last name \(index)"
                person[Person.age] = index % 90
                person[Person.height] = 1.5 + Double(index % 50) / 100
                person[Person.score] = index * 7
                person[Person.isActive] = index % 3 == 0
            }
            try context.save()
        }
    }

    private static func model() throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [
            EntityDescription(
                "Person",
                attributes: [
                    AttributeDescription("firstName", .string), AttributeDescription("lastName", .string),
                    AttributeDescription("age", .integer32), AttributeDescription("height", .double),
                    AttributeDescription("score", .integer64), AttributeDescription("isActive", .boolean),
                ])
        ])
    }
}

final class Person: ManagedObject {
    static let firstName = AttributeKey<String>("firstName")
    static let lastName = AttributeKey<String>("lastName")
    static let age = AttributeKey<Int>("age")
    static let height = AttributeKey<Double>("height")
    static let score = AttributeKey<Int>("score")
    static let isActive = AttributeKey<Bool>("isActive")
}
