import FaultlineModel

/// A subselect over the objects of a to-many relationship, under construction.
struct SQLSubselect {
    /// Its index among the generator's scopes.
    var scope: Int
    var table: String
    /// The condition that correlates it with the row of the enclosing statement.
    var correlation: String
    /// Further conditions on its rows.
    var conditions: [String] = []
    /// The names after the relationship that have not been followed yet.
    var rest: [String]
}

extension SQLGenerator {
    /// Whether a path goes through a to-many relationship and has no collection operator.
    func isCollection(_ path: FetchPath) -> Bool {
        switch path.root {
        case .object: return path.isCollection(from: entity.schema, model)
        case .subquery: return path.collectionOperator == nil
        case .variable(let name):
            guard let scope = scopes.last(where: { $0.variable == name }) else { return false }
            return path.isCollection(from: scope.start.entity, model)
        }
    }

    /// Begins a subselect over the objects at the end of a path.
    ///
    /// - Parameter variable: Their name in a subquery's predicate.
    mutating func begin(_ path: FetchPath, variable: String? = nil) throws(StoreError) -> SQLSubselect {
        if case .subquery(let collection, let inner, let predicate) = path.root {
            var subselect = try begin(collection, variable: inner)
            // The predicate concerns the objects at the end of the collection's whole path.
            if !subselect.rest.isEmpty {
                guard
                    case .object(let key, let entity, _) = try walk(
                        subselect.rest, in: subselect.scope, collection, multiplies: true)
                else {
                    throw invalid(
                        "'\(collection.text(values: false))' yields values, but SUBQUERY needs objects; name a relationship."
                    )
                }
                scopes[subselect.scope].start = SQLScope.Position(
                    entity: entity, key: key, alias: nil, path: subselect.rest.joined(separator: "."))
            }
            scopes[subselect.scope].keepsUnrelated = predicate.keepsUnrelated
            subselect.conditions = [try conditionOfOneRow(predicate)]
            subselect.rest = path.names
            return subselect
        }
        guard case .collection(let owner, let property, let rest) = try walk(path.names, in: try scope(of: path), path)
        else {
            throw invalid(
                "'\(path.text(values: false))' does not go through a to-many relationship; name a to-many relationship."
            )
        }
        let destination = model.entities[property.destination]
        let alias = newAlias()
        var start = SQLScope.Position(entity: destination, key: "\(alias).Z_PK", alias: alias)
        var subselect = SQLSubselect(scope: scopes.count, table: "", correlation: "", rest: rest)
        if let join = property.joinTable {
            start.key = "\(alias).\(join.destinationColumn)"
            start.alias = nil
            subselect.table = "\(join.table) \(alias)"
            subselect.correlation = "\(owner) = \(alias).\(join.sourceColumn)"
        } else {
            subselect.table = "\(destination.table) \(alias)"
            subselect.correlation = "\(owner) = \(alias).\(model.memberKey(of: property).column)"
        }
        scopes.append(SQLScope(start: start, variable: variable, keepsUnrelated: true))
        return subselect
    }

    /// Ends a subselect.
    ///
    /// - Parameter columns: The columns to select.
    mutating func end(_ subselect: SQLSubselect, selecting columns: String) -> String {
        let scope = scopes.removeLast()
        let joins = scope.joins.map { " \($0.sql)" }.joined()
        let conditions = ([subselect.correlation] + subselect.conditions).joined(separator: " AND ")
        return "(SELECT \(columns) FROM \(subselect.table)\(joins) WHERE (\(conditions)) )"
    }

    // MARK: - Aggregates

    /// Applies a collection operator to the objects at the end of a path.
    mutating func collectionValue(
        _ path: FetchPath, _ collection: FetchPath, _ name: String, _ names: [String]
    ) throws(StoreError) -> SQLOperand {
        let text = path.text(values: false)
        guard let known = FetchPath.CollectionOperator(rawValue: name) else {
            if name.hasPrefix("@union") || name.hasPrefix("@distinctUnion") {
                var each = collection
                each.names += names
                throw invalid(
                    "'\(text)' yields several values where one is needed; compare each of them with 'ANY \(each.text(values: false))', or fetch dictionaries with returnsDistinctResults for the different ones."
                )
            }
            throw invalid(
                "'\(text)' uses \(name), which fetches do not support; use @count, @sum, @min, @max or @avg.")
        }
        return try aggregate(known.function, collection, names, text)
    }

    /// Applies a function to the values at a key path of the objects of a to-many relationship.
    mutating func aggregate(
        _ function: FetchExpression.Function, _ collection: FetchPath, _ names: [String], _ text: String
    ) throws(StoreError) -> SQLOperand {
        let subselect = try begin(collection)
        let target = try walk(subselect.rest + names, in: subselect.scope, collection, multiplies: true)
        switch target {
        case .object(let key, _, _):
            guard function == .count else {
                throw invalid(
                    "'\(text)' aggregates the values of objects but names no attribute; add one: '@\(function.word).price'."
                )
            }
            return SQLOperand(
                sql: end(subselect, selecting: "COUNT(\(key))"), type: .attribute(.integer64), isOptional: false,
                text: text)
        case .attribute(let column, let property, _):
            let type = try resultType(function, property.attributeType ?? .undefined, text)
            return SQLOperand(
                sql: end(subselect, selecting: "\(function.sql)( \(column))"), type: .attribute(type),
                isOptional: function != .sum && function != .count, text: text)
        case .collection: incorrectUse("A sub-select follows to-many relationships.")
        }
    }

    // MARK: - Quantifiers

    /// A comparison that must hold for at least one, all or none of the objects of a to-many relationship.
    mutating func quantified(_ comparison: FetchPredicate.Comparison) throws(StoreError) -> String {
        let word = comparison.modifier.rawValue
        guard case .path(let path) = comparison.left, path.collectionOperator == nil else {
            throw invalid(
                "\(word) needs a key path through a to-many relationship, and '\(comparison.left.text(values: false))' is not one; remove \(word)."
            )
        }
        guard isCollection(path) else {
            // An invalid path is reported first.
            if path.root == .object { _ = try walk(path.names, in: 0, path) }
            throw invalid(
                "'\(path.text(values: false))' does not go through a to-many relationship, so \(word) has no meaning; remove it."
            )
        }
        var subselect = try begin(path)
        var inner = comparison
        inner.modifier = .direct
        if comparison.modifier != .all {
            scopes[subselect.scope].keepsUnrelated =
                FetchPredicate.Node.comparison(inner).keepsUnrelated
                || !subselect.conditions.isEmpty && scopes[subselect.scope].keepsUnrelated
        }
        let left = operand(try walk(subselect.rest, in: subselect.scope, path, multiplies: true), path)
        let condition = try compare(left, inner)
        switch comparison.modifier {
        case .direct, .any:
            subselect.conditions.append(condition)
            return " EXISTS\(end(subselect, selecting: "1"))"
        case .none:
            subselect.conditions.append(condition)
            return " NOT EXISTS\(end(subselect, selecting: "1"))"
        case .all:
            subselect.conditions.append(" NOT (IFNULL(\(condition), 0))")
            return " NOT EXISTS\(end(subselect, selecting: "1"))"
        }
    }

    /// Whether a value is among those at the end of a path through a to-many relationship.
    ///
    /// - Parameter isFirst: Whether the values of the other operand were bound before those of the path.
    mutating func contains(
        _ path: FetchPath, _ wanted: (inout SQLGenerator, SQLOperand) throws(StoreError) -> String, isFirst: Bool
    ) throws(StoreError) -> String {
        var subselect = try begin(path)
        let element = operand(try walk(subselect.rest, in: subselect.scope, path, multiplies: true), path)
        let condition = try wanted(&self, element)
        subselect.conditions.insert(condition, at: isFirst ? 0 : subselect.conditions.count)
        return " EXISTS\(end(subselect, selecting: "1"))"
    }
}
