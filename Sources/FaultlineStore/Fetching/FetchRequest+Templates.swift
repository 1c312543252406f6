public import FaultlineModel

extension FetchRequest {
    /// A request that is kept in a model.
    ///
    ///     let request = try FetchRequest<Item>(
    ///         templateNamed: "itemsByName", in: container.managedObjectModel, substitutionVariables: ["NAME": "milk"])
    ///
    /// - Throws: ``StoreError`` if the model has no such request, or its predicate cannot be read or asks for a property
    ///   of a variable that is no object. Not if variables are left; executing the request tells of those.
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
