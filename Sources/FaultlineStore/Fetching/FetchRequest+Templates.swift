public import FaultlineModel

extension FetchRequest {
    /// Creates a request from a template in a model.
    ///
    ///     let request = try FetchRequest<Item>(
    ///         templateNamed: "itemsByName", in: container.managedObjectModel, substitutionVariables: ["NAME": "milk"])
    ///
    /// - Throws: ``StoreError`` if the model has no such template, if its predicate cannot be parsed, or if the
    ///   predicate reads a property of a variable that is not an object. Unset variables only throw when the request is
    ///   executed.
    public init(
        templateNamed name: String, in model: ManagedObjectModel,
        substitutionVariables: [String: (any FetchPredicateArgument)?] = [:]
    ) throws(StoreError) {
        guard let template = model.fetchRequestTemplate(named: name) else {
            throw StoreError(
                .invalidRequest, "The model has no fetch request '\(name)'; correct the name, or add it to the model.")
        }
        try self.init(template, substitutionVariables: substitutionVariables)
    }

    init(
        _ template: FetchRequestTemplate, substitutionVariables: [String: (any FetchPredicateArgument)?]
    ) throws(StoreError) {
        let predicate: FetchPredicate?
        if let format = template.predicate, !format.isEmpty {
            predicate = try FetchPredicate(format: format).withSubstitutionVariables(substitutionVariables)
        } else {
            predicate = nil
        }
        self.init(entityName: template.entity, predicate: predicate)
    }
}
