/// One key that a request for the objects of an entity's class sorts by.
///
/// A request says whose objects it is for, so the class need not be written again: `.ascending(\.title)`.
public struct EntitySortDescriptor<Object: Entity>: Sendable, Hashable {
    /// The same for a request that knows no class.
    public let descriptor: FetchSortDescriptor

    /// Sorts by an attribute, also of an object at the end of to-one relationships: `.ascending(\.shelf?.label)`.
    ///
    /// Traps if the key path leads to something else.
    ///
    /// - Parameter order: How texts are compared; by default by code points.
    public static func ascending<Value>(
        _ keyPath: KeyPath<Object, Value>, _ order: TextOrder = .lexical
    ) -> EntitySortDescriptor {
        EntitySortDescriptor(descriptor: .ascending(Object.pathOfProperty(keyPath), order))
    }

    /// As ``ascending(_:_:)-(KeyPath<Object,Value>,_)``, the other way round.
    public static func descending<Value>(
        _ keyPath: KeyPath<Object, Value>, _ order: TextOrder = .lexical
    ) -> EntitySortDescriptor {
        EntitySortDescriptor(descriptor: .descending(Object.pathOfProperty(keyPath), order))
    }
}
