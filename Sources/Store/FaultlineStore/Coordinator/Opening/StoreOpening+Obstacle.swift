package import FaultlineModel

extension StoreOpening {
    /// The error for a model feature that no store supports, reported before a save could lose data.
    ///
    /// - Parameter isNew: Whether the store gets its columns now, rather than from Core Data.
    package static func obstacle(_ model: ManagedObjectModel, _ path: String, isNew: Bool) -> StoreError? {
        for entity in model.entities {
            for attribute in entity.attributes
            where attribute.type == .composite && !attribute.isTransient && (isNew || attribute.elements.isEmpty) {
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
