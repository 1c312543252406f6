/// A class's declaration of one property of its entity.
///
/// Created by expansions of ``Entity(_:isAbstract:renamingIdentifier:versionHashModifier:userInfo:)``.
public struct EntityProperty: Sendable {
    private enum Kind {
        case attribute(AttributeDescription, isUnique: Bool)
        case relationship(RelationshipDeclaration)
    }

    private let kind: Kind

    /// Creates an attribute from its key and its initial value.
    public init<Key: AttributeDeclaringKey>(
        _ key: Key, default defaultValue: Key.Value? = nil, _ settings: AttributeSettings = AttributeSettings(),
        fileID: StaticString, line: UInt
    ) {
        let type = settings.type ?? Key.attributeType ?? .undefined
        var description = AttributeDescription(
            key.name, type, isOptional: settings.isOptional ?? Key.isOptional,
            defaultValue: defaultValue.flatMap { Key.attributeValue(of: $0)?.converted(to: type) }, fileID: fileID,
            line: line)
        settings.apply(to: &description)
        kind = .attribute(description, isUnique: settings.options.contains(.unique))
    }

    /// Creates a relationship from its key.
    public init(
        _ key: some RelationshipDeclaringKey, _ settings: RelationshipSettings = RelationshipSettings(),
        fileID: StaticString, line: UInt
    ) {
        let (destination, isToMany, isOrdered) = type(of: key).relationship
        var description = RelationshipDescription(
            key.name, to: destination.entityName, inverse: nil, isToMany: isToMany, isOrdered: isOrdered,
            fileID: fileID, line: line)
        settings.apply(to: &description)
        kind = .relationship(
            RelationshipDeclaration(
                description: description, destination: destination, inverse: settings.inverse))
    }

    @available(*, unavailable, message: "declare a relationship with @Relationship")
    public init(
        _ key: some RelationshipDeclaringKey, _ settings: AttributeSettings, fileID: StaticString, line: UInt
    ) { fatalError() }

    @available(*, unavailable, message: "declare an attribute with @Attribute")
    public init(
        _ key: some AttributeDeclaringKey, _ settings: RelationshipSettings, fileID: StaticString, line: UInt
    ) { fatalError() }

    /// Never called, because programs with such a key do not compile.
    public init<Value>(
        _ key: UnsupportedKey<Value>, default defaultValue: Value? = nil,
        _ settings: AttributeSettings = AttributeSettings(), fileID: StaticString, line: UInt
    ) { fatalError("There is no key.") }

    /// Never called, because programs with such a key do not compile.
    public init<Value>(
        _ key: UnsupportedKey<Value>, _ settings: RelationshipSettings, fileID: StaticString, line: UInt
    ) { fatalError("There is no key.") }

    var attribute: AttributeDescription? {
        if case .attribute(let description, _) = kind { description } else { nil }
    }

    var relationship: RelationshipDeclaration? {
        if case .relationship(let declaration) = kind { declaration } else { nil }
    }

    var uniquenessConstraint: [String]? {
        if case .attribute(let description, isUnique: true) = kind { [description.name] } else { nil }
    }
}
