import FaultlineModel
import FaultlineProfile
import FaultlineStore
import FaultlineTrace

/// The program's use of an object in a result: the attributes it read, and the relationships it followed.
struct ResultReading {
    /// A relationship that fired on some of the objects.
    private struct Firing {
        var property: PropertySchema
        /// The share of the objects it fired on, from 0 to 1.
        var share: Double
        /// The attribute that is read from each destination object, and the relationships that fire on it.
        var attribute: String?
        var further: [Firing]
    }

    /// The maximum depth of relationships to follow.
    private static let depth = 4
    /// The minimum share of the used rows in which an attribute was read for the replay to read it in all of them.
    private static let share = 0.5

    private let attributes: [String]
    private let firings: [Firing]

    init(_ profile: FetchProfile, _ entity: EntitySchema, _ schema: ModelSchema) {
        let touched = max(1, profile.total(\.touchedRows))
        let read = profile.properties[entity.name] ?? [:]
        attributes = read.filter { Double($0.value.rowsRead) >= Self.share * Double(touched) }.map(\.key)
            .filter { Self.isReadable(entity.property($0)) }.sorted()
        var left = profile.firedRelationships
        for (edge, asked) in profile.askedToMany { left[edge] = max(left[edge] ?? 0, asked) }
        firings = Self.firings(&left, entity, schema, objects: touched, depth: Self.depth)
    }

    /// The relationships that fired on objects of an entity.
    ///
    /// Each is followed only from where it is reached first.
    private static func firings(
        _ left: inout [FetchProfile.Edge: UInt64], _ entity: EntitySchema, _ schema: ModelSchema, objects: UInt64,
        depth: Int
    ) -> [Firing] {
        guard depth > 0 else { return [] }
        let own = left.filter { entity.property($0.key.name)?.isRelationship == true && isKind(entity, $0.key, schema) }
        for edge in own.keys { left[edge] = nil }
        return own.ordered { ($0.key.name, $0.key.entity) < ($1.key.name, $1.key.entity) }.compactMap { edge, times in
            guard let property = entity.property(edge.name) else { return nil }
            let target = schema.entities[property.destination]
            return Firing(
                property: property, share: min(1, Double(times) / Double(max(1, objects))),
                attribute: target.properties.first { isReadable($0) }?.name,
                further: firings(&left, target, schema, objects: times, depth: depth - 1))
        }
    }

    /// Whether an entity is the relationship's, or one inherits from the other.
    private static func isKind(_ entity: EntitySchema, _ edge: FetchProfile.Edge, _ schema: ModelSchema) -> Bool {
        guard let other = schema.entity(named: edge.entity) else { return false }
        return entity.family.contains(other.index) || other.family.contains(entity.index)
    }

    /// Whether an attribute can be read without code of the program.
    private static func isReadable(_ property: PropertySchema?) -> Bool {
        guard let property, let type = property.attributeType else { return false }
        return !property.isTransient && type != .transformable
    }

    /// Whether reading an object reaches other objects, which may need the store.
    var followsRelationships: Bool { !firings.isEmpty }

    // MARK: - Reading

    /// Reads from an object what the program read.
    ///
    /// - Parameter number: The object's index among all objects, which decides whether its relationships fire.
    func read(_ object: ManagedObject, number: Int) {
        for name in attributes { _ = object.value(forKey: name) }
        follow(firings, from: object, number)
    }

    private func follow(_ firings: [Firing], from object: ManagedObject, _ number: Int) {
        for firing in firings {
            // Relationships fire on their share of the objects, spread evenly.
            let count = { (objects: Int) in Int(Double(objects) * firing.share + 1e-9) }
            guard count(number + 1) > count(number) else { continue }
            if firing.property.isToMany {
                for (position, member) in Members(object, firing.property).enumerated() {
                    touch(member, firing, position)
                }
            } else if let target = object.value(forKey: firing.property.name) as? ManagedObject {
                touch(target, firing, number)
            }
        }
    }

    private func touch(_ object: ManagedObject, _ firing: Firing, _ number: Int) {
        if let attribute = firing.attribute { _ = object.value(forKey: attribute) }
        follow(firing.further, from: object, number)
    }
}
