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
        return nil
    }

    static func error(_ path: String, _ name: String, _ what: String, _ remedy: String) -> StoreError {
        StoreError(
            .unsupportedModel, "The store '\(path)' does not support '\(name)', \(what); \(remedy) in the model.")
    }
}
