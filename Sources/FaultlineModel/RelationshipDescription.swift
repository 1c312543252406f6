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
    /// A relationship without one is easily left behind: nobody tells it when objects at the other end are deleted.
    public var inverse: String?
    public var isToMany: Bool
    /// Whether the objects at the other end have an order of their own, which the store keeps.
    public var isOrdered: Bool
    /// Whether an object can be saved with nothing at the other end.
    public var isOptional: Bool
    /// Whether the relationship lives in memory only and is never stored.
    public var isTransient: Bool
    public var deleteRule: DeleteRule
    /// How many objects there must be at the other end of a to-many relationship that is not empty.
    public var minimumCount: Int
    /// How many objects there can be at the other end of a to-many relationship; 0: any number.
    public var maximumCount: Int
    /// Whether Spotlight finds objects by the relationship.
    public var isIndexedBySpotlight: Bool
    /// Whether synchronisation takes the relationship along.
    public var isSyncable: Bool
    /// The name that the relationship had in an earlier version of the model, for migration.
    public var renamingIdentifier: String?
    /// Text that makes this version of the relationship another one, although nothing else about it changed.
    public var versionHashModifier: String?
    /// Whatever the model's author noted.
    public var userInfo: [String: String]
    var origin: Origin

    /// A relationship; optional, without an order and with the delete rule nullify unless said otherwise.
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

    /// Where the relationship is declared: `"Groceries/Model.swift:12"`.
    ///
    /// A report names it as the line to change.
    public var declaredAt: String {
        get { origin.declaredAt }
        set { origin.declaredAt = newValue }
    }
}
