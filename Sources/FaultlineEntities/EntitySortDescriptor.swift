/// One key that a request for the objects of an entity's class sorts by.
///
/// A request says whose objects it is for, so the class need not be written again: `.ascending(\.title)`.
public struct EntitySortDescriptor<Object: Entity>: Sendable, Hashable {
    /// The same for a request that knows no class.
    public let descriptor: FetchSortDescriptor

    /// Sorts by an attribute.
    ///
    /// Traps if the key path leads to something else, or over more than one property.
    ///
    /// - Parameter order: How texts are compared; by default by code points.
    public static func ascending<Value>(
        _ keyPath: KeyPath<Object, Value>, _ order: TextOrder = .lexical
    ) -> EntitySortDescriptor {
        EntitySortDescriptor(descriptor: .ascending(Object.nameOfProperty(keyPath), order))
    }

    /// As ``ascending(_:_:)-(KeyPath<Object,Value>,_)``, the other way round.
    public static func descending<Value>(
        _ keyPath: KeyPath<Object, Value>, _ order: TextOrder = .lexical
    ) -> EntitySortDescriptor {
        EntitySortDescriptor(descriptor: .descending(Object.nameOfProperty(keyPath), order))
    }

    /// Sorts by an attribute at the other end of a to-one relationship: `.ascending(\.shelf, \.label)`.
    ///
    /// Traps as ``ascending(_:_:)-(KeyPath<Object,Value>,_)`` does.
    public static func ascending<Destination: Entity, Value>(
        _ relationship: KeyPath<Object, Destination?>, _ keyPath: KeyPath<Destination, Value>,
        _ order: TextOrder = .lexical
    ) -> EntitySortDescriptor {
        EntitySortDescriptor(descriptor: .ascending(path(relationship, keyPath), order))
    }

    /// As ``ascending(_:_:_:)``, the other way round.
    public static func descending<Destination: Entity, Value>(
        _ relationship: KeyPath<Object, Destination?>, _ keyPath: KeyPath<Destination, Value>,
        _ order: TextOrder = .lexical
    ) -> EntitySortDescriptor {
        EntitySortDescriptor(descriptor: .descending(path(relationship, keyPath), order))
    }

    private static func path<Destination: Entity>(
        _ relationship: PartialKeyPath<Object>, _ keyPath: PartialKeyPath<Destination>
    ) -> String {
        PropertyPath(relationship).appending(keyPath).keyPath
    }
}
