/// A property with a direction, for ``Index(_:_:)``, which reads its source text and never evaluates it.
public struct EntityIndexElement<Object: ManagedObject> {
    public static func ascending(_ keyPath: PartialKeyPath<Object>) -> EntityIndexElement { EntityIndexElement() }
    public static func descending(_ keyPath: PartialKeyPath<Object>) -> EntityIndexElement { EntityIndexElement() }
}
