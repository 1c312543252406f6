/// A class's declaration of its entity.
///
/// The macro ``Entity(_:isAbstract:renamingIdentifier:versionHashModifier:userInfo:)`` generates it from the class.
public final class EntityDeclaration: Sendable {
    /// The class of the entity's objects.
    public let type: any Entity.Type
    /// The parent of the entity.
    public let parent: (any Entity.Type)?
    /// The names of the properties by Swift key path, including inherited ones.
    public let propertyNames: PropertyNames
    /// The entity without the inverses that only other classes name.
    let description: EntityDescription
    /// The relationships, in the order of the description.
    let relationships: [RelationshipDeclaration]

    /// Creates a declaration; called by expansions of the macro.
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

/// A class's declaration of a relationship.
struct RelationshipDeclaration: Sendable {
    var description: RelationshipDescription
    var destination: ManagedObject.Type
    var inverse: RelationshipSettings.Inverse
}
