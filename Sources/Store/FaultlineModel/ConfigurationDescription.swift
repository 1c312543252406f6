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
/// A file refers to it from ``AttributeDescription/elements``. Stores that Core Data wrote are read and saved with it; no store is
/// created with it, and none is migrated to it.
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

extension [CompositeAttributeDescription] {
    /// Gives the composite attributes of entities the elements of their definitions.
    func resolved(_ entities: [EntityDescription]) -> [EntityDescription] {
        guard !isEmpty else { return entities }
        return entities.map { entity in
            var entity = entity
            for index in entity.attributes.indices {
                entity.attributes[index].elements = elements(of: entity.attributes[index], depth: 0)
            }
            return entity
        }
    }

    /// The elements of an attribute, whose definition a file names in one of its settings, or by the attribute's name.
    private func elements(of attribute: AttributeDescription, depth: Int) -> [AttributeDescription] {
        guard attribute.type == .composite, attribute.elements.isEmpty, depth < ModelCheck.Limit.compositeDepth else {
            return attribute.elements
        }
        let settings = Set((attribute.origin.element?.attributes ?? [:]).values)
        let definition =
            first { settings.contains($0.name) } ?? first { $0.name.lowercased() == attribute.name.lowercased() }
            ?? (count == 1 ? self[0] : nil)
        return (definition?.elements ?? []).map { element in
            var element = element
            element.elements = elements(of: element, depth: depth + 1)
            return element
        }
    }
}
