/// The effect of deleting an object on the objects at the other end of a relationship.
public enum DeleteRule: String, Sendable, Hashable, CaseIterable {
    /// None; the other end is left pointing at the deleted object.
    case noAction = "No Action"
    /// The other end removes its reference to the deleted object.
    case nullify = "Nullify"
    /// The objects at the other end are deleted too.
    case cascade = "Cascade"
    /// The object cannot be deleted while there are objects at the other end; saving reports an error.
    case deny = "Deny"
}

/// A property of an entity that refers to objects of another entity.
///
/// The destination and the inverse are given by name, which keeps descriptions plain values.
public struct RelationshipDescription: Sendable, Hashable {
    /// The name, unique among the properties of the entity.
    public var name: String
    /// The name of the entity at the other end.
    public var destination: String
    /// The name of the destination's inverse relationship.
    ///
    /// A relationship without an inverse can go stale, because it is not updated when objects at the other end are
    /// deleted.
    public var inverse: String?
    /// Whether an object can be related to several others.
    public var isToMany: Bool
    /// Whether the objects at the other end are ordered; the store keeps the order.
    public var isOrdered: Bool
    /// Whether an object can be saved with nothing at the other end.
    public var isOptional: Bool
    /// Whether the relationship lives in memory only and is never stored.
    public var isTransient: Bool
    /// The effect of an object's deletion on the related objects.
    public var deleteRule: DeleteRule
    /// The minimum number of objects in a to-many relationship that is not empty.
    public var minimumCount: Int
    /// The maximum number of objects in a to-many relationship; 0 for no limit.
    public var maximumCount: Int
    /// Whether Spotlight finds objects by the relationship.
    public var isIndexedBySpotlight: Bool
    /// Whether the relationship is synchronized.
    public var isSyncable: Bool
    /// The name that the relationship had in an earlier version of the model, for migration.
    public var renamingIdentifier: String?
    /// Text that changes the version of the relationship although nothing else about it changed.
    public var versionHashModifier: String?
    /// The notes of the model's author.
    public var userInfo: [String: String]
    var origin: Origin

    /// Creates a relationship; optional, unordered and with the delete rule nullify unless specified otherwise.
    public init(
        _ name: String, to destination: String, inverse: String?, isToMany: Bool = false, isOrdered: Bool = false,
        isOptional: Bool = true, isTransient: Bool = false, deleteRule: DeleteRule = .nullify, minimumCount: Int = 0,
        maximumCount: Int = 0, isIndexedBySpotlight: Bool = false, isSyncable: Bool = true,
        renamingIdentifier: String? = nil, versionHashModifier: String? = nil, userInfo: [String: String] = [:],
        fileID: StaticString = #fileID, line: UInt = #line
    ) {
        self.name = name
        self.destination = destination
        self.inverse = inverse
        self.isToMany = isToMany
        self.isOrdered = isOrdered
        self.isOptional = isOptional
        self.isTransient = isTransient
        self.deleteRule = deleteRule
        self.minimumCount = minimumCount
        self.maximumCount = maximumCount
        self.isIndexedBySpotlight = isIndexedBySpotlight
        self.isSyncable = isSyncable
        self.renamingIdentifier = renamingIdentifier
        self.versionHashModifier = versionHashModifier
        self.userInfo = userInfo
        origin = Origin(fileID, line)
    }

    /// The line that declares the relationship: `"Groceries/Model.swift:12"`.
    ///
    /// A report names it as the line to change.
    public var declaredAt: String {
        get { origin.declaredAt }
        set { origin.declaredAt = newValue }
    }
}
