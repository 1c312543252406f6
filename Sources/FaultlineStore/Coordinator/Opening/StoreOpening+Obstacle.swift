package import FaultlineModel

extension StoreOpening {
    /// The error for a model feature that no store supports, reported before a save could lose data.
    package static func obstacle(_ model: ManagedObjectModel, _ path: String) -> StoreError? {
        for entity in model.entities {
            for attribute in entity.attributes where attribute.type == .composite && !attribute.isTransient {
                return error(
                    path, "\(entity.name).\(attribute.name)", "a composite attribute",
                    "make its parts separate attributes")
            }
            for attribute in entity.attributes {
                guard let pattern = attribute.regularExpression,
                    TextPattern(pattern, [], isExpression: true).expression == nil
                else { continue }
                return error(
                    path, "\(entity.name).\(attribute.name)", "whose regular expression '\(pattern)' is invalid",
                    "correct it")
            }
        }
        return relationshipObstacle(model, path)
    }

    /// The error for a relationship that no store supports, and that a migration could not keep.
    package static func relationshipObstacle(_ model: ManagedObjectModel, _ path: String) -> StoreError? {
        for entity in model.entities {
            for relationship in entity.relationships {
                let name = "\(entity.name).\(relationship.name)"
                if relationship.isTransient {
                    return error(path, name, "a transient relationship", "set its isTransient to false")
                }
                guard relationship.inverse == nil, relationship.isToMany else { continue }
                return error(path, name, "a to-many relationship without an inverse", "give it an inverse")
            }
        }
        return nil
    }

    private static func error(_ path: String, _ name: String, _ what: String, _ remedy: String) -> StoreError {
        StoreError(
            .unsupportedModel, "The store '\(path)' does not support '\(name)', \(what); \(remedy) in the model.")
    }
}
