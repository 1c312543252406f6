import FaultlineModel
import Foundation

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
    /// The statement itself, and the sub-selects that are being written, the innermost last.
    var scopes: [SQLScope]
    /// How many tables have a name.
    var aliases = 1
    /// Rows that are left out.
    private let hidden: [Int64]
    /// Whether what rows are sorted by stands in the last columns.
    private let selectsSortKeys: Bool
    /// What `now()` says.
    let now = Date()

    init(
        _ terms: FetchTerms, entity: EntityRuntime, model: ModelSchema, store: StoreIdentity, hiding hidden: [Int64],
        selectsSortKeys: Bool
    ) {
        self.hidden = hidden
        self.selectsSortKeys = selectsSortKeys
        self.terms = terms
        self.entity = entity
        self.model = model
        self.store = store
        let start = SQLScope.Position(entity: entity.schema, key: "t0.Z_PK", alias: "t0")
        scopes = [SQLScope(start: start, keepsUnrelated: terms.predicate?.node.keepsUnrelated ?? false)]
    }

    /// - Parameters:
    ///   - hidden: keys of rows to leave out.
    ///   - selectsSortKeys: whether what rows are sorted by stands in the last columns.
    static func statement(
        _ terms: FetchTerms, _ form: Form, entity: EntityRuntime, model: ModelSchema, store: StoreIdentity,
        hiding hidden: [Int64] = [], selectsSortKeys: Bool = false
    ) throws(StoreError) -> SelectStatement {
        var generator = SQLGenerator(
            terms, entity: entity, model: model, store: store, hiding: hidden, selectsSortKeys: selectsSortKeys)
        return try generator.make(form)
    }

    private mutating func make(_ form: Form) throws(StoreError) -> SelectStatement {
        var conditions: [String] = []
        if let condition = entityCondition() { conditions.append(condition) }
        if let predicate = terms.predicate { conditions.append(try condition(predicate.node)) }
        if !hidden.isEmpty {
            arrays.append(hidden)
            conditions.append(" t0.Z_PK NOT IN (SELECT * FROM _Z_intarray\(arrays.count - 1))")
        }
        var order: [String] = []
        var sortKeys = ""
        var columns: [ExpressionColumn] = []
        // What is sorted by or worked out selects nothing.
        scopes[0].keepsUnrelated = true
        switch form {
        case .rows, .keys:
            for descriptor in terms.sortDescriptors {
                let column = try sortColumn(descriptor.keyPath)
                order.append(column + (descriptor.isAscending ? "" : " DESC"))
                if selectsSortKeys { sortKeys += ", \(column)" }
            }
        case .expressions: columns = try expressionColumns()
        case .count: break
        }
        let isLimited = terms.limit > 0 || terms.offset > 0
        var sql =
            switch form {
            case .rows: entity.rowSelection + sortKeys
            case .keys: entity.keySelection + sortKeys
            // A count of a part counts the rows of a sub-select.
            case .count where isLimited: "SELECT COUNT(*) FROM (SELECT t0.Z_PK"
            case .count: scopes[0].joins.isEmpty ? "SELECT COUNT(*)" : "SELECT COUNT(DISTINCT t0.Z_PK)"
            case .expressions: "SELECT " + columns.map(\.sql).joined(separator: ", ")
            }
        let needsAlias = form != .count || !conditions.isEmpty || isLimited
        sql += " FROM \(entity.schema.table)" + (needsAlias ? " t0" : "")
        for join in scopes[0].joins { sql += " " + join.sql }
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

    private mutating func sortColumn(_ keyPath: String) throws(StoreError) -> String {
        let path = FetchPath(keyPath)
        switch try walk(path.names, in: 0, path) {
        case .attribute(let column, _, _): return column
        case .object(let key, _, nil): return key
        case .object:
            throw invalid("'\(keyPath)' is a relationship and has no order; sort by an attribute of its destination.")
        case .collection: throw manyObjects(path)
        }
    }
}
