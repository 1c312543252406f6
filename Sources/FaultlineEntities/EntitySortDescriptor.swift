/// A sort key of a request for the objects of an entity's class.
///
/// The request determines the class, so a key path needs no root: `.ascending(\.title)`.
public struct EntitySortDescriptor<Object: Entity>: Sendable, Hashable {
    /// The sort key for a request without a class.
    public let descriptor: FetchSortDescriptor

    /// Sorts by an attribute in ascending order, also of an object over to-one relationships: `.ascending(\.shelf?.label)`.
    ///
    /// Traps if the key path does not lead to a property.
    ///
    /// - Parameters:
    ///   - keyPath: the key path of the attribute.
    ///   - order: the order of strings; by code points by default.
    public static func ascending<Value>(
        _ keyPath: KeyPath<Object, Value>, _ order: TextOrder = .lexical
    ) -> EntitySortDescriptor {
        EntitySortDescriptor(descriptor: .ascending(Object.pathOfProperty(keyPath), order))
    }

    /// Sorts by an attribute in descending order; see ``ascending(_:_:)-(KeyPath<Object,Value>,_)``.
    public static func descending<Value>(
        _ keyPath: KeyPath<Object, Value>, _ order: TextOrder = .lexical
    ) -> EntitySortDescriptor {
        EntitySortDescriptor(descriptor: .descending(Object.pathOfProperty(keyPath), order))
    }
}
