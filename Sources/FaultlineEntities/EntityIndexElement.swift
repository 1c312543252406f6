/// A property with a direction, for ``Index(_:_:)``, which reads its source text and never evaluates it.
public struct EntityIndexElement<Object: ManagedObject> {
    /// Returns a property that the index has in ascending order.
    public static func ascending(_ keyPath: PartialKeyPath<Object>) -> EntityIndexElement { EntityIndexElement() }
    /// Returns a property that the index has in descending order.
    public static func descending(_ keyPath: PartialKeyPath<Object>) -> EntityIndexElement { EntityIndexElement() }
}
