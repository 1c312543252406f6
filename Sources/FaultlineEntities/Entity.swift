@_exported public import FaultlineModel
@_exported public import FaultlineStore

/// A class of objects that says what its entity is; ``Entity(_:isAbstract:renamingIdentifier:versionHashModifier:userInfo:)``
/// makes a class conform.
public protocol Entity: ManagedObject, SendableMetatype {
    /// What the class declares of its entity.
    ///
    /// Made once, when it is first asked for.
    static var entityDeclaration: EntityDeclaration { get }
}

extension Entity {
    /// A request for the objects of the class's entity.
    public static func fetchRequest() -> FetchRequest<Self> { FetchRequest() }

    /// The name of the property that a key path leads to, inherited ones included; `nil` if it leads to something else,
    /// or over more than one property.
    ///
    ///     Item.propertyName(\.price)    // "price"
    ///
    /// - Complexity: O(1).
    public static func propertyName(_ keyPath: PartialKeyPath<Self>) -> String? {
        entityDeclaration.propertyNames[keyPath]
    }
}
