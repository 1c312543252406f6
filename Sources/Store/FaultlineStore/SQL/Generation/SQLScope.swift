import FaultlineModel

/// A SELECT of a statement: the fetch itself, or a subselect over the objects of a to-many relationship.
struct SQLScope {
    /// An object on a key path, with at least its key available.
    struct Position {
        var entity: EntitySchema
        /// The SQL of its key: `t0.Z_PK`, or the foreign key that refers to it.
        var key: String
        /// The alias of its table in the statement; `nil` if the table has not been joined.
        var alias: String?
        /// The names that lead to it from the start.
        var path = ""
    }

    struct Join {
        var path: String
        var alias: String
        var sql: String
    }

    /// The start of key paths.
    var start: Position
    /// The object's name in a subquery's predicate.
    var variable: String?
    var joins: [Join] = []
    /// Whether to keep rows that lack the object of a relationship.
    var keepsUnrelated: Bool
}

/// The target of a key path.
enum SQLTarget {
    case attribute(column: String, PropertySchema, isOptional: Bool)
    /// - property: The to-one relationship that refers to it; `nil` for the object itself.
    case object(key: String, EntitySchema, PropertySchema?)
    /// The objects of a to-many relationship, and the names that follow it.
    case collection(owner: String, PropertySchema, rest: [String])
}

extension SQLGenerator {
    // MARK: - Key paths

    func invalid(_ message: String) -> StoreError {
        StoreError(.invalidRequest, "\(doing) \(entity.schema.name): \(message)")
    }

    /// The scope in which a path begins.
    func scope(of path: FetchPath) throws(StoreError) -> Int {
        switch path.root {
        case .object: return 0
        case .variable(let name):
            if let scope = scopes.lastIndex(where: { $0.variable == name }) { return scope }
            throw invalid(
                "'$\(name)' has no value; set one with withSubstitutionVariables before executing the request.")
        case .subquery: incorrectUse("A subquery has a scope of its own.")
        }
    }

    /// Follows a key path in a scope, and adds the joins that it needs.
    ///
    /// - Parameter multiplies: Whether a to-many relationship may multiply rows, as it may where rows are only tested.
    mutating func walk(
        _ names: [String], in scope: Int, _ path: FetchPath, multiplies: Bool = false
    ) throws(StoreError) -> SQLTarget {
        var position = scopes[scope].start
        var relationship: PropertySchema?
        for (depth, name) in names.enumerated() {
            let text = { path.text(values: false) }
            let isLast = depth == names.count - 1
            guard let property = position.entity.property(name) else {
                // Core Data's name for an object's ID.
                if name == "objectID", isLast { break }
                guard position.entity.elements(of: name).isEmpty else {
                    throw invalid(
                        "'\(text())' compares a part of '\(name)', which is a composite attribute of \(position.entity.name); fetch the objects, and compare them then."
                    )
                }
                guard !(name.isEmpty && names.count == 1) else {
                    throw invalid("a key path is empty; name a property.")
                }
                throw invalid(
                    "'\(text())' is not a valid key path because \(position.entity.name) has no property '\(name)'; correct the key path."
                )
            }
            let step = position.path.isEmpty ? name : "\(position.path).\(name)"
            if property.isTransient, property.isRelationship {
                throw invalid(
                    "'\(text())' goes through '\(name)', which is transient and not in the store; use a stored relationship."
                )
            }
            switch property.kind {
            case .attribute:
                guard isLast else {
                    throw invalid(
                        "'\(text())' continues past '\(name)', which is an attribute of \(position.entity.name); correct the key path."
                    )
                }
                guard !property.isTransient else {
                    throw invalid("'\(text())' is transient and not in the store; use a stored attribute.")
                }
                let isOptional = property.isOptional || !position.path.isEmpty
                return .attribute(
                    column: "\(alias(of: position, in: scope)).\(property.column)", property, isOptional: isOptional)
            case .toOne:
                let key = "\(alias(of: position, in: scope)).\(property.column)"
                position = SQLScope.Position(
                    entity: model.entities[property.destination], key: key, alias: nil, path: step)
                relationship = property
            case .toMany, .manyToMany:
                guard multiplies else {
                    return .collection(owner: position.key, property, rest: Array(names[(depth + 1)...]))
                }
                position = multiply(property, from: position, step, in: scope)
                relationship = nil
            }
        }
        return .object(key: position.key, position.entity, relationship)
    }

    mutating func newAlias() -> String {
        defer { aliases += 1 }
        return "t\(aliases)"
    }

    /// The alias of a position's table, which is joined if necessary.
    private mutating func alias(of position: SQLScope.Position, in scope: Int) -> String {
        if let alias = position.alias { return alias }
        if let known = scopes[scope].joins.first(where: { $0.path == position.path }) { return known.alias }
        let alias = newAlias()
        // Members of a many-to-many relationship exist whenever their join rows do.
        let keepsUnrelated = scopes[scope].keepsUnrelated && !position.path.isEmpty
        let word = keepsUnrelated ? "LEFT OUTER JOIN" : "JOIN"
        scopes[scope].joins.append(
            SQLScope.Join(
                path: position.path, alias: alias,
                sql: "\(word) \(position.entity.table) \(alias) ON \(position.key) = \(alias).Z_PK"))
        return alias
    }

    /// Joins the members of a to-many relationship, each of which then has its own row.
    ///
    /// In the statement itself, which selects objects, an object without members keeps a row.
    private mutating func multiply(
        _ property: PropertySchema, from position: SQLScope.Position, _ step: String, in scope: Int
    ) -> SQLScope.Position {
        let destination = model.entities[property.destination]
        let path = "\(step) members"
        let known = scopes[scope].joins.first { $0.path == path }?.alias
        let alias = known ?? newAlias()
        let table: String
        let source: String
        if let join = property.joinTable {
            (table, source) = (join.table, join.sourceColumn)
        } else {
            (table, source) = (destination.table, model.memberKey(of: property).column)
        }
        if known == nil {
            let word = scope == 0 ? "LEFT OUTER JOIN" : "JOIN"
            scopes[scope].joins.append(
                SQLScope.Join(
                    path: path, alias: alias, sql: "\(word) \(table) \(alias) ON \(position.key) = \(alias).\(source)"))
        }
        if let join = property.joinTable {
            return SQLScope.Position(
                entity: destination, key: "\(alias).\(join.destinationColumn)", alias: nil, path: step)
        }
        return SQLScope.Position(entity: destination, key: "\(alias).Z_PK", alias: alias, path: step)
    }
}
