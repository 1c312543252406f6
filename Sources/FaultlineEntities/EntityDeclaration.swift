/// What a class declares of its entity.
///
/// ``Entity(_:isAbstract:renamingIdentifier:versionHashModifier:userInfo:)`` makes it from the class.
public final class EntityDeclaration: Sendable {
    /// The class of the entity's objects.
    public let type: any Entity.Type
    /// The entity that this one inherits from.
    public let parent: (any Entity.Type)?
    /// The names of the properties by Swift's key paths, inherited ones included.
    public let propertyNames: PropertyNames
    /// The entity without what follows from other classes: inverses that only they name.
    let description: EntityDescription
    /// The relationships, in the order of the description's.
    let relationships: [RelationshipDeclaration]

    /// Called by expansions of the macro.
    public init(
        _ type: any Entity.Type, parent: (any Entity.Type)? = nil, isAbstract: Bool = false,
        renamingIdentifier: String? = nil, versionHashModifier: String? = nil, userInfo: [String: String] = [:],
        keyPaths: [PropertyKeyPath], properties: [EntityProperty] = [], indexes: [FetchIndexDescription] = [],
        uniquenessConstraints: [[String]] = [], fileID: StaticString, line: UInt
    ) {
        self.type = type
        self.parent = parent
        propertyNames = PropertyNames(keyPaths)
        relationships = properties.compactMap(\.relationship)
        description = EntityDescription(
            type.entityName, parent: parent?.entityName, isAbstract: isAbstract,
            attributes: properties.compactMap(\.attribute), relationships: relationships.map(\.description),
            indexes: indexes,
            uniquenessConstraints: properties.compactMap(\.uniquenessConstraint) + uniquenessConstraints,
            renamingIdentifier: renamingIdentifier, versionHashModifier: versionHashModifier, userInfo: userInfo,
            fileID: fileID, line: line)
    }
}

/// A relationship as a class declares it.
struct RelationshipDeclaration: Sendable {
    var description: RelationshipDescription
    var destination: ManagedObject.Type
    var inverse: RelationshipSettings.Inverse
}
