import FaultlineModel

extension SQLGenerator {
    /// Generates the assignments of an UPDATE with their bound values.
    static func assignments(
        _ properties: [String: FetchExpression], terms: FetchTerms, entity: EntityRuntime, model: ModelSchema,
        store: PersistentStore
    ) throws(StoreError) -> (sets: [String], values: [SQLValue]) {
        var generator = SQLGenerator(
            terms, .rows, entity: entity, model: model, store: store, hiding: [], selectsSortKeys: false, partial: nil)
        var sets: [String] = []
        for (name, expression) in properties.sorted(by: { $0.key < $1.key }) {
            sets.append(try generator.assignment(name, expression.node))
        }
        guard !sets.isEmpty else {
            throw generator.invalid("propertiesToUpdate names nothing; add an attribute with its new value.")
        }
        guard generator.scopes[0].joins.isEmpty else {
            throw generator.invalid(
                "an update's values are worked out from the object's own attributes; leave out what leads to others.")
        }
        return (sets, generator.values)
    }

    private mutating func assignment(
        _ name: String, _ node: FetchExpression.Node
    ) throws(StoreError) -> String {
        guard let property = entity.schema.property(name), let type = property.attributeType, !property.isTransient
        else {
            throw invalid(
                "'\(name)' is no stored attribute of \(entity.schema.name) and cannot be updated; correct the name.")
        }
        guard !property.isDerived, !property.isExternal else {
            throw invalid(
                "'\(name)' is worked out or kept in a file, and cannot be updated in the store; save objects.")
        }
        if case .null = node { return "\(property.column) = NULL" }
        if case .value(let given) = node {
            let value = ManagedObject.convert(given, to: type)
            guard value.fits(type) else {
                throw invalid("'\(name)' of type \(type.rawValue) cannot be set to \(given); pass a value of its type.")
            }
            values.append(SQLValue(value))
            return "\(property.column) = ?"
        }
        let operand = try operand(node)
        guard let given = operand.attributeType, given.domain == type.domain, type.domain != .other else {
            throw invalid(
                "'\(name)' of type \(type.rawValue) cannot be set to '\(operand.text)', \(operand.typeText); pass a value of its type."
            )
        }
        // An integer attribute stores no fraction.
        return type.isInteger && !given.isInteger
            ? "\(property.column) = CAST(\(operand.sql) AS INTEGER)"
            : "\(property.column) =\(operand.sql.hasPrefix(" ") ? "" : " ")\(operand.sql)"
    }
}
