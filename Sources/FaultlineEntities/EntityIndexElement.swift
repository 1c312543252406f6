/// A property with a direction, for ``Index(_:_:)``, which reads how it is written and never calls it.
public struct EntityIndexElement<Object: ManagedObject> {
    public static func ascending(_ keyPath: PartialKeyPath<Object>) -> EntityIndexElement { EntityIndexElement() }
    public static func descending(_ keyPath: PartialKeyPath<Object>) -> EntityIndexElement { EntityIndexElement() }
}
