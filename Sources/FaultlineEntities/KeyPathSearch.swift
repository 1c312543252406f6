import Synchronization

/// Finds the names along a Swift key path over to-one relationships, such as `"shelf.room"` for `\Book.shelf?.room`.
///
/// Swift key paths cannot be taken apart. So the search composes key paths from those that the macro has written, until
/// one is the same.
enum KeyPathSearch {
    /// The maximum number of properties along a key path.
    static let maximumSteps = 5

    /// Names that were found before, by key path.
    private static let known = Mutex(KnownPaths())

    /// The names along a key path, separated by dots; `nil` if it does not lead over to-one relationships to a property.
    ///
    /// - Complexity: O(1), except for a key path that is looked up for the first time: O(*r*ⁿ) for a key path of *n* + 1
    ///   properties and entities with *r* to-one relationships.
    static func path(of keyPath: AnyKeyPath, from entity: any Entity.Type) -> String? {
        if let known = known.withLock({ $0.names[keyPath] }) { return known }
        guard let found = search(for: keyPath, from: entity) else { return nil }
        known.withLock { $0.names[keyPath] = found }
        return found
    }

    private static func search(for keyPath: AnyKeyPath, from entity: any Entity.Type) -> String? {
        var reached = entity.entityDeclaration.propertyNames.properties.compactMap { Step($0.direct, $0.name) }
        for _ in 1..<maximumSteps {
            var next: [Step] = []
            for step in reached {
                for property in step.entity.entityDeclaration.propertyNames.properties {
                    guard let path = step.keyPath.appending(path: property.chained) else { continue }
                    let name = "\(step.name).\(property.name)"
                    if path.isSame(as: keyPath) { return name }
                    if let step = Step(path, name) { next.append(step) }
                }
            }
            reached = next
        }
        return nil
    }

    /// A key path to an object of another entity.
    private struct Step {
        let keyPath: AnyKeyPath
        let name: String
        let entity: any Entity.Type

        /// - Returns: `nil` if the key path does not lead to an object.
        init?(_ keyPath: AnyKeyPath, _ name: String) {
            guard let destination = type(of: keyPath).valueType as? any OptionalEntity.Type else { return nil }
            (self.keyPath, self.name, entity) = (keyPath, name, destination.entity)
        }
    }
}

/// The names along key paths.
private struct KnownPaths: @unchecked Sendable {
    // Guarded by the mutex that holds it. Its key paths equal ones that the macro has written, which capture nothing.
    var names: [AnyKeyPath: String] = [:]
}

/// An optional object of an entity, which is the type of a to-one relationship.
private protocol OptionalEntity {
    static var entity: any Entity.Type { get }
}

extension Optional: OptionalEntity where Wrapped: Entity {
    static var entity: any Entity.Type { Wrapped.self }
}

extension AnyKeyPath {
    /// Whether a composed key path has the same components as one that is written in full.
    ///
    /// `==` also compares where the mutable part of a key path ends, which differs: the first part of a composed one can
    /// be written to. Hashes cover the components alone.
    fileprivate func isSame(as other: AnyKeyPath) -> Bool {
        type(of: self) == type(of: other) && hashValue == other.hashValue
    }
}
