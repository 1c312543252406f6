/// What happens to the objects at the other end of a relationship when an object is deleted.
public enum DeleteRule: String, Sendable, Hashable, CaseIterable {
    /// Nothing; the other end is left pointing at an object that is gone.
    case noAction = "No Action"
    /// The other end lets go of the deleted object.
    case nullify = "Nullify"
    /// The objects at the other end are deleted too.
    case cascade = "Cascade"
    /// The object cannot be deleted while there are objects at the other end; the save says so.
    case deny = "Deny"
}

/// A property of an entity that leads to objects of another entity.
///
/// The destination and the inverse are named, not referred to, so that descriptions stay plain values.
public struct RelationshipDescription: Sendable, Hashable {
    public var name: String
    /// The name of the entity at the other end.
    public var destination: String
    /// The name of the destination's relationship that leads back.
    ///
    /// A to-many relationship must have one.
    public var inverse: String?
    public var isToMany: Bool
    /// Whether an object can be saved with nothing at the other end.
    public var isOptional: Bool
    public var deleteRule: DeleteRule
    /// Where the relationship is declared: `"Groceries/Model.swift:12"`.
    ///
    /// A report names it as the line to change.
    public var declaredAt: String

    /// A relationship; optional, with the delete rule nullify unless said otherwise.
    public init(
        _ name: String, to destination: String, inverse: String?, isToMany: Bool = false, isOptional: Bool = true,
        deleteRule: DeleteRule = .nullify, fileID: StaticString = #fileID, line: UInt = #line
    ) {
        self.name = name
        self.destination = destination
        self.inverse = inverse
        self.isToMany = isToMany
        self.isOptional = isOptional
        self.deleteRule = deleteRule
        declaredAt = "\(fileID):\(line)"
    }
}
