@_exported public import FaultlineModel
@_exported public import FaultlineStore

/// A class that declares its entity.
///
/// ``Entity(_:isAbstract:renamingIdentifier:versionHashModifier:userInfo:)`` makes a class conform.
public protocol Entity: ManagedObject, SendableMetatype {
    /// The declaration of the class's entity.
    ///
    /// Created once, on first access.
    static var entityDeclaration: EntityDeclaration { get }
}

extension Entity {
    /// Creates a request for the objects of the class's entity.
    public static func fetchRequest() -> FetchRequest<Self> { FetchRequest() }

    /// The name of the property at a key path, including inherited ones; `nil` if the key path is not exactly one
    /// property.
    ///
    ///     Item.propertyName(\.price)    // "price"
    ///
    /// - Complexity: O(1).
    public static func propertyName(_ keyPath: PartialKeyPath<Self>) -> String? {
        entityDeclaration.propertyNames[keyPath]
    }
}
