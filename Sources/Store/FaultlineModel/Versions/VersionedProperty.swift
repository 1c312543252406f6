/// A part of a model that later versions can continue under another name.
protocol VersionedPart: Sendable {
    var name: String { get }
    var renamingIdentifier: String? { get }
}

/// A part of an entity's objects.
protocol VersionedProperty: VersionedPart {
    var isTransient: Bool { get }
    static var element: ModelDifference.Element { get }
    /// The settings that are compared without regard to the rest of the model.
    static var comparisons: [SettingComparison<Self>] { get }
    /// Returns an entity's own properties of this type.
    static func own(_ entity: EntityDescription) -> [Self]
}

extension EntityDescription: VersionedPart {}

extension AttributeDescription: VersionedProperty {
    static var element: ModelDifference.Element { .attribute }
    static var comparisons: [SettingComparison<Self>] { SettingComparison<Self>.all }
    static func own(_ entity: EntityDescription) -> [Self] { entity.attributes }
}

extension RelationshipDescription: VersionedProperty {
    static var element: ModelDifference.Element { .relationship }
    static var comparisons: [SettingComparison<Self>] { SettingComparison<Self>.all }
    static func own(_ entity: EntityDescription) -> [Self] { entity.relationships }
}
