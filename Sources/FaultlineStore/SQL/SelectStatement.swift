import FaultlineModel

/// A SELECT in the making: its text and what is bound to it.
struct SelectStatement {
    var sql: String
    var values: [SQLValue]
    /// Keys for `_Z_intarray0`, `_Z_intarray1` and so on.
    var arrays: [[Int64]]
    /// Values for `_Z_valuearray0` and so on.
    var lists: [[SQLValue]]
    /// What a dictionary result is read from; empty for any other.
    var columns: [ExpressionColumn] = []
}

/// Writes the statements of fetch requests as Core Data writes them.
struct SQLGenerator {
    enum Form {
        /// All columns.
        case rows
        /// `Z_PK`, and `Z_ENT` in a tree.
        case keys
        case count
        /// One column for each of the request's expressions.
        case expressions
    }

    let terms: FetchTerms
    let entity: EntityRuntime
    let model: ModelSchema
    let store: StoreIdentity
    var values: [SQLValue] = []
    var arrays: [[Int64]] = []
    var lists: [[SQLValue]] = []
    private var joins: [(path: String, sql: String)] = []
    /// Where rows must stay that have nothing at the other end of a relationship.
    private var keepsUnrelated = false

    init(_ terms: FetchTerms, entity: EntityRuntime, model: ModelSchema, store: StoreIdentity) {
        self.terms = terms
        self.entity = entity
        self.model = model
        self.store = store
    }

    static func statement(
        _ terms: FetchTerms, _ form: Form, entity: EntityRuntime, model: ModelSchema, store: StoreIdentity
    ) throws(StoreError) -> SelectStatement {
        var generator = SQLGenerator(terms, entity: entity, model: model, store: store)
        return try generator.make(form)
    }

    private mutating func make(_ form: Form) throws(StoreError) -> SelectStatement {
        keepsUnrelated = terms.predicate?.node.keepsUnrelated ?? false
        var conditions: [String] = []
        if let condition = entityCondition() { conditions.append(condition) }
        if let predicate = terms.predicate { conditions.append(try condition(predicate.node)) }
        var order: [String] = []
        var columns: [ExpressionColumn] = []
        // What is sorted by or worked out selects nothing.
        keepsUnrelated = true
        switch form {
        case .rows, .keys:
            for descriptor in terms.sortDescriptors {
                order.append(try sortColumn(descriptor.keyPath) + (descriptor.isAscending ? "" : " DESC"))
            }
        case .expressions: columns = try expressionColumns()
        case .count: break
        }
        let isLimited = terms.limit > 0 || terms.offset > 0
        var sql =
            switch form {
            case .rows: entity.rowSelection
            case .keys: entity.keySelection
            // A count of a part counts the rows of a sub-select.
            case .count where isLimited: "SELECT COUNT(*) FROM (SELECT t0.Z_PK"
            case .count: joins.isEmpty ? "SELECT COUNT(*)" : "SELECT COUNT(DISTINCT t0.Z_PK)"
            case .expressions: "SELECT " + columns.map(\.sql).joined(separator: ", ")
            }
        let needsAlias = form != .count || !conditions.isEmpty || isLimited
        sql += " FROM \(entity.schema.table)" + (needsAlias ? " t0" : "")
        for join in joins { sql += " " + join.sql }
        if !conditions.isEmpty {
            sql += " WHERE " + (conditions.count == 1 ? conditions[0] : "(\(conditions.joined(separator: " AND ")))")
        }
        if !order.isEmpty { sql += (conditions.isEmpty ? " " : "  ") + "ORDER BY " + order.joined(separator: ", ") }
        if isLimited {
            sql += (conditions.isEmpty || !order.isEmpty ? " " : "  ") + "LIMIT \(terms.limit > 0 ? terms.limit : -1)"
            if terms.offset > 0 { sql += " OFFSET \(terms.offset)" }
            if form == .count { sql += ")" }
        }
        return SelectStatement(sql: sql, values: values, arrays: arrays, lists: lists, columns: columns)
    }

    /// Which rows of a tree's table belong to the entity; nothing if all do.
    private mutating func entityCondition() -> String? {
        let schema = entity.schema
        guard schema.isInTree else { return nil }
        if schema.parent < 0, terms.includesSubentities { return nil }
        let wanted = terms.includesSubentities ? schema.family : [schema.index]
        let numbers = wanted.map { model.entities[$0].number }.sorted()
        values += numbers.map { .integer($0) }
        if numbers.count == 1 { return " t0.Z_ENT = ?" }
        return " t0.Z_ENT IN (\(Array(repeating: "?", count: numbers.count).joined(separator: ", ")))"
    }

    // MARK: - Key paths

    /// What a key path leads to.
    enum Target {
        case attribute(column: String, PropertySchema)
        case toOne(column: String, PropertySchema)
        case object
    }

    func invalid(_ message: String) -> StoreError {
        StoreError(.invalidRequest, "Fetching \(entity.schema.name): \(message)")
    }

    mutating func resolve(_ keyPath: String) throws(StoreError) -> Target {
        if keyPath.uppercased() == "SELF" { return .object }
        var current = entity.schema
        var alias = "t0"
        let names = keyPath.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        for (place, name) in names.enumerated() {
            guard let property = current.property(name) else {
                throw invalid(
                    "'\(keyPath)' leads nowhere, because \(current.name) has no property '\(name)'; correct the key path."
                )
            }
            let isLast = place == names.count - 1
            switch property.kind {
            case .attribute:
                guard isLast else {
                    throw invalid(
                        "'\(keyPath)' leads beyond '\(name)', which is an attribute of \(current.name); correct the key path."
                    )
                }
                guard !property.isTransient else {
                    throw invalid("'\(keyPath)' is transient and not in the store; select by a stored attribute.")
                }
                return .attribute(column: "\(alias).\(property.column)", property)
            case .toMany, .manyToMany:
                throw invalid(
                    "'\(keyPath)' leads through '\(name)', which is to-many; select by to-one relationships and attributes."
                )
            case .toOne:
                if isLast { return .toOne(column: "\(alias).\(property.column)", property) }
                alias = join(names[...place].joined(separator: "."), from: alias, property)
                current = model.entities[property.destination]
            }
        }
        throw invalid("a key path is empty; name a property.")
    }

    private mutating func join(_ path: String, from alias: String, _ property: PropertySchema) -> String {
        if let known = joins.firstIndex(where: { $0.path == path }) { return "t\(known + 1)" }
        let new = "t\(joins.count + 1)"
        let word = keepsUnrelated ? "LEFT OUTER JOIN" : "JOIN"
        let table = model.entities[property.destination].table
        joins.append((path, "\(word) \(table) \(new) ON \(alias).\(property.column) = \(new).Z_PK"))
        return new
    }

    private mutating func sortColumn(_ keyPath: String) throws(StoreError) -> String {
        switch try resolve(keyPath) {
        case .attribute(let column, _): return column
        case .object: return "t0.Z_PK"
        case .toOne:
            throw invalid("'\(keyPath)' is a relationship and has no order; sort by an attribute of its destination.")
        }
    }
}

extension FetchPredicate.Node {
    /// Whether a row can be selected that has nothing at the other end of a relationship that the predicate goes
    /// through; an inner join would lose it.
    var keepsUnrelated: Bool {
        switch self {
        case .and(let nodes): nodes.contains { $0.keepsUnrelated }
        case .or, .not: true
        case .comparison(_, let operation, let operand, _): operation == .notEqualTo || operand == .null
        case .between, .isIn, .constant: false
        }
    }
}
