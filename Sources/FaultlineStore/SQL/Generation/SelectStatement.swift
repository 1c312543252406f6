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
    /// Of a dictionary result that is part of a whole: the columns of what it is sorted by.
    var sortColumns: [Int32] = []
}

/// Writes the statements of fetch requests as Core Data writes them.
struct SQLGenerator {
    enum Form: Equatable {
        /// All columns.
        case rows
        /// `Z_PK`, and `Z_ENT` in a tree.
        case keys
        case count
        /// One column for each of the request's expressions.
        case expressions
    }

    let terms: FetchTerms
    let form: Form
    let entity: EntityRuntime
    let model: ModelSchema
    let store: PersistentStore
    var values: [SQLValue] = []
    var arrays: [[Int64]] = []
    var lists: [[SQLValue]] = []
    /// The statement itself, and the sub-selects that are being written, the innermost last.
    var scopes: [SQLScope]
    /// How many tables have a name.
    var aliases = 1
    /// Whether functions over many objects may stand here, since there are groups of them.
    var worksOverGroups = false
    /// Rows that are left out.
    private let hidden: [Int64]
    /// Whether what rows are sorted by stands in the last columns.
    private let selectsSortKeys: Bool
    private var sortColumns: [Int32] = []
    private let partial: PartialSelection?
    /// What `now()` says.
    let now = Date()

    init(
        _ terms: FetchTerms, _ form: Form, entity: EntityRuntime, model: ModelSchema, store: PersistentStore,
        hiding hidden: [Int64], selectsSortKeys: Bool, partial: PartialSelection?
    ) {
        self.partial = partial
        self.hidden = hidden
        self.selectsSortKeys = selectsSortKeys
        self.terms = terms
        self.form = form
        self.entity = entity
        self.model = model
        self.store = store
        let start = SQLScope.Position(entity: entity.schema, key: "t0.Z_PK", alias: "t0")
        scopes = [SQLScope(start: start, keepsUnrelated: terms.predicate?.node.keepsUnrelated ?? false)]
    }

    /// - Parameters:
    ///   - hidden: keys of rows to leave out.
    ///   - selectsSortKeys: whether what rows are sorted by stands in the last columns.
    ///   - partial: which properties rows have; `nil`: all.
    static func statement(
        _ terms: FetchTerms, _ form: Form, entity: EntityRuntime, model: ModelSchema, store: PersistentStore,
        hiding hidden: [Int64] = [], selectsSortKeys: Bool = false, partial: PartialSelection? = nil
    ) throws(StoreError) -> SelectStatement {
        var generator = SQLGenerator(
            terms, form, entity: entity, model: model, store: store, hiding: hidden, selectsSortKeys: selectsSortKeys,
            partial: partial)
        return try generator.make()
    }

    private mutating func make() throws(StoreError) -> SelectStatement {
        var conditions: [String] = []
        if let condition = entityCondition() { conditions.append(condition) }
        if let predicate = terms.predicate { conditions.append(try condition(predicate.node)) }
        if !hidden.isEmpty {
            arrays.append(hidden)
            conditions.append(" t0.Z_PK NOT IN (SELECT * FROM _Z_intarray\(arrays.count - 1))")
        }
        // What is sorted by or worked out selects nothing.
        scopes[0].keepsUnrelated = true
        let isLimited = terms.limit > 0 || terms.offset > 0
        var tail = ""
        var columns: [ExpressionColumn] = []
        let selection: String
        switch form {
        case .rows, .keys:
            let order = try order()
            let sortKeys = selectsSortKeys ? order.columns.map { "," + $0 }.joined() : ""
            selection = (form == .rows ? partial?.selection ?? entity.rowSelection : entity.keySelection) + sortKeys
            tail = order.clause
        case .expressions:
            columns = try inFront { (generator) throws(StoreError) in try generator.expressionColumns() }
            selection = try self.selection(&columns, &tail)
        // A count of a part counts the rows of a sub-select.
        case .count where isLimited: selection = "SELECT COUNT(*) FROM (SELECT t0.Z_PK"
        case .count: selection = scopes[0].joins.isEmpty ? "SELECT COUNT(*)" : "SELECT COUNT(DISTINCT t0.Z_PK)"
        }
        let needsAlias = form != .count || !conditions.isEmpty || isLimited
        var sql = selection + " FROM \(entity.schema.table)" + (needsAlias ? " t0" : "")
        for join in scopes[0].joins { sql += " " + join.sql }
        if !conditions.isEmpty {
            sql += " WHERE " + (conditions.count == 1 ? conditions[0] : "(\(conditions.joined(separator: " AND ")))")
        }
        if !tail.isEmpty { sql += (conditions.isEmpty ? " " : "  ") + tail }
        if isLimited {
            sql += (conditions.isEmpty || !tail.isEmpty ? " " : "  ") + "LIMIT \(terms.limit > 0 ? terms.limit : -1)"
            if terms.offset > 0 { sql += " OFFSET \(terms.offset)" }
            if form == .count { sql += ")" }
        }
        return SelectStatement(
            sql: sql, values: values, arrays: arrays, lists: lists, columns: columns, sortColumns: sortColumns)
    }

    /// Writes a part of the statement whose values are bound in front of those of all other parts.
    private mutating func inFront<Part>(
        _ write: (inout SQLGenerator) throws(StoreError) -> Part
    ) throws(StoreError) -> Part {
        let others = values
        values = []
        let part = try write(&self)
        values += others
        return part
    }

    /// What a dictionary result selects, and the clauses behind its conditions.
    private mutating func selection(
        _ columns: inout [ExpressionColumn], _ tail: inout String
    ) throws(StoreError) -> String {
        var clauses: [String] = []
        if !terms.groups.isEmpty { clauses.append("GROUP BY" + (try groupColumns()).joined(separator: ",")) }
        if let having = terms.having {
            worksOverGroups = true
            defer { worksOverGroups = false }
            let condition = try condition(having.node)
            clauses.append("HAVING" + (condition.hasPrefix(" ") ? "" : " ") + condition)
        }
        let order = try order()
        if !order.clause.isEmpty { clauses.append(order.clause) }
        tail = clauses.joined(separator: " ")
        // Columns have names where something refers to them.
        let list = columns.indices.map { place in
            let alias = Self.alias(ofColumn: place)
            let isNamed = tail.split { !$0.isLetter && !$0.isNumber }.contains(Substring(alias))
            return columns[place].sql.drop { $0 == " " } + (isNamed ? " AS \(alias)" : "")
        }
        var sortKeys = ""
        if selectsSortKeys {
            var count = columns.count
            for column in order.columns {
                // What is selected already has a name.
                let name = column.drop { $0 == " " }
                if let place = columns.indices.first(where: { Self.alias(ofColumn: $0) == name }) {
                    sortColumns.append(Int32(place))
                } else {
                    sortKeys += "," + column
                    sortColumns.append(Int32(count))
                    count += 1
                }
            }
        }
        return (terms.isDistinct ? "SELECT DISTINCT " : "SELECT ") + list.joined(separator: ", ") + sortKeys
    }

    /// The ORDER BY clause, with its columns.
    private mutating func order() throws(StoreError) -> (columns: [String], clause: String) {
        var columns: [String] = []
        var clause: [String] = []
        for descriptor in terms.sortDescriptors {
            let column = try sortColumn(descriptor.keyPath)
            columns.append(column)
            let collation = descriptor.order.collation.map { " COLLATE \($0)" } ?? ""
            clause.append(column.drop { $0 == " " } + collation + (descriptor.isAscending ? "" : " DESC"))
        }
        return (columns, clause.isEmpty ? "" : "ORDER BY " + clause.joined(separator: ", "))
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
        if form == .expressions { return try namedColumn(keyPath) }
        let path = FetchPath(keyPath)
        let operand = try operand(.path(path))
        if case .object = operand.type, operand.property != nil {
            throw invalid("'\(keyPath)' is a relationship and has no order; sort by an attribute of its destination.")
        }
        return operand.sql
    }
}
