import FaultlineModel

extension SQLGenerator {
    /// Generates the assignments of an UPDATE with their bound values.
    static func assignments(
        _ properties: [String: FetchExpression], terms: FetchTerms, entity: EntityRuntime, model: ModelSchema,
        store: PersistentStore
    ) throws(StoreError) -> (sets: [String], values: [SQLValue]) {
        var generator = SQLGenerator(
            terms, .rows, entity: entity, model: model, store: store, hiding: [], selectsSortKeys: false, partial: nil)
        generator.doing = "Updating"
        var sets: [String] = []
        for (name, expression) in properties.sorted(by: { $0.key < $1.key }) {
            sets.append(try generator.assignment(name, expression.node))
        }
        guard !sets.isEmpty else {
            throw generator.invalid("propertiesToUpdate is empty; add an attribute with its new value.")
        }
        guard generator.scopes[0].joins.isEmpty else {
            throw generator.invalid(
                "an update can compute values only from the object's own attributes; remove the key paths through relationships."
            )
        }
        return (sets, generator.values)
    }

    private mutating func assignment(
        _ name: String, _ node: FetchExpression.Node
    ) throws(StoreError) -> String {
        guard let property = entity.schema.property(name), let type = property.attributeType, !property.isTransient
        else {
            throw invalid(
                "'\(name)' is not a stored attribute of \(entity.schema.name) and cannot be updated; correct the name.")
        }
        guard !property.isDerived, !property.isExternal else {
            throw invalid(
                "'\(name)' is derived or stored in an external file, so a batch update cannot set it; change the objects and save them."
            )
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
