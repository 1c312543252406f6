/// A named part of a model: some of its entities, for a store of their own.
public struct ConfigurationDescription: Sendable, Hashable {
    public var name: String
    /// The names of its entities.
    public var entities: [String]
    /// Whether its store is mirrored to CloudKit.
    public var isUsedWithCloudKit: Bool
    var origin: Origin

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

/// A value that is made of attributes, for attributes of the type ``AttributeType/composite``.
///
/// It is kept in the model; a store cannot hold it yet and says so when it is opened.
public struct CompositeAttributeDescription: Sendable, Hashable {
    public var name: String
    public var elements: [AttributeDescription]
    var origin: Origin

    public init(
        _ name: String, elements: [AttributeDescription], fileID: StaticString = #fileID, line: UInt = #line
    ) {
        self.name = name
        self.elements = elements
        origin = Origin(fileID, line)
    }
}
