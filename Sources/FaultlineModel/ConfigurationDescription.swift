/// A named subset of a model's entities, for a separate store.
public struct ConfigurationDescription: Sendable, Hashable {
    /// The name, unique in the model.
    public var name: String
    /// The names of its entities.
    public var entities: [String]
    /// Whether its store is mirrored to CloudKit.
    public var isUsedWithCloudKit: Bool
    var origin: Origin

    /// Creates a configuration of entities with these names.
    public init(
        _ name: String, entities: [String], isUsedWithCloudKit: Bool = false, fileID: StaticString = #fileID,
        line: UInt = #line
    ) {
        self.name = name
        self.entities = entities
        self.isUsedWithCloudKit = isUsedWithCloudKit
        origin = Origin(fileID, line)
    }
}

/// A value composed of attributes, for attributes of the type ``AttributeType/composite``.
///
/// Models can contain it, but stores do not support it yet and report an error when they are opened.
public struct CompositeAttributeDescription: Sendable, Hashable {
    /// The name, unique in the model.
    public var name: String
    /// The attributes that the composite consists of.
    public var elements: [AttributeDescription]
    var origin: Origin

    /// Creates a composite of these attributes.
    public init(
        _ name: String, elements: [AttributeDescription], fileID: StaticString = #fileID, line: UInt = #line
    ) {
        self.name = name
        self.elements = elements
        origin = Origin(fileID, line)
    }
}
