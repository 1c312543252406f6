import FaultlineModel
import FaultlineStore

/// An entity with two text and four numeric attributes.
final class Person: ManagedObject {
    static let firstName = AttributeKey<String>("firstName")
    static let lastName = AttributeKey<String>("lastName")
    static let age = AttributeKey<Int>("age")
    static let height = AttributeKey<Double>("height")
    static let score = AttributeKey<Int>("score")
    static let isActive = AttributeKey<Bool>("isActive")

    var age: Int { self[Self.age] }

    static func model() throws -> ManagedObjectModel {
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

    /// A sum over every property.
    var sum: Int {
        self[Self.firstName].utf8.count &+ self[Self.lastName].utf8.count &+ self[Self.age]
            &+ Int(self[Self.height] * 100) &+ self[Self.score] &+ (self[Self.isActive] ? 1 : 0)
    }
}

/// The values of a person's properties.
struct PersonValues {
    var firstName: String
    var lastName: String
    var age: Int
    var height: Double
    var score: Int
    var isActive: Bool

    static func list(_ count: Int) -> [PersonValues] {
        (0..<count).map { index in
            PersonValues(
                firstName: "First name \(index % 321)", lastName: "Last name \(index)", age: index % 90,
                height: 1.5 + Double(index % 50) / 100, score: index * 7, isActive: index % 3 == 0)
        }
    }
}

extension Person {
    func set(_ values: PersonValues) {
        self[Self.firstName] = values.firstName
        self[Self.lastName] = values.lastName
        self[Self.age] = values.age
        self[Self.height] = values.height
        self[Self.score] = values.score
        self[Self.isActive] = values.isActive
    }
}
