import FaultlineModel
import Foundation

/// A SELECT statement: its text and its bound values.
struct SelectStatement {
    var sql: String
    var values: [SQLValue] = []
    /// Keys for `_Z_intarray0`, `_Z_intarray1` and so on.
    var arrays: [[Int64]] = []
    /// Values for `_Z_valuearray0` and so on.
    var lists: [[SQLValue]] = []
    /// The columns of a dictionary result; otherwise empty.
    var columns: [ExpressionColumn] = []
    /// The columns with the sort keys of a dictionary result from one of several stores.
    var sortColumns: [Int32] = []
}

/// Generates the SQL of fetch requests in Core Data's style.
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
    /// The scopes of the statement and of the subselects under construction, innermost last.
    var scopes: [SQLScope]
    /// The number of table aliases so far.
    var aliases = 1
    /// The operation, as the start of errors.
    var doing = "Fetching"
    /// Whether aggregate functions over groups are allowed here.
    var worksOverGroups = false
    /// Whether a key path through a to-many relationship is allowed here, which gives each of its objects a row.
    var multipliesRows = false
    /// The keys of rows to leave out.
    private let hidden: [Int64]
    /// Whether the last columns contain the sort keys.
    private let selectsSortKeys: Bool
    private var sortColumns: [Int32] = []
    private let partial: PartialSelection?
    /// The value of `now()`.
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

    /// Generates a statement.
    ///
    /// - Parameters:
    ///   - hidden: The keys of rows to leave out.
    ///   - selectsSortKeys: Whether the last columns should contain the sort keys.
    ///   - partial: The columns of the rows; `nil` for all.
    ///   - doing: The operation, as the start of errors.
    static func statement(
        _ terms: FetchTerms, _ form: Form, entity: EntityRuntime, model: ModelSchema, store: PersistentStore,
        hiding hidden: [Int64] = [], selectsSortKeys: Bool = false, partial: PartialSelection? = nil,
        doing: String = "Fetching"
    ) throws(StoreError) -> SelectStatement {
        var generator = SQLGenerator(
            terms, form, entity: entity, model: model, store: store, hiding: hidden, selectsSortKeys: selectsSortKeys,
            partial: partial)
        generator.doing = doing
        return try generator.make()
    }

    private mutating func make() throws(StoreError) -> SelectStatement {
        var conditions: [String] = []
        if let condition = entityCondition() { conditions.append(condition) }
        if let predicate = terms.predicate { conditions.append(try condition(predicate.node)) }
        if let keys = terms.keys {
            conditions.append("t0.Z_PK BETWEEN ? AND ?")
            values += [.integer(keys.lowerBound), .integer(keys.upperBound)]
        }
        if !hidden.isEmpty {
            arrays.append(hidden)
            conditions.append(" t0.Z_PK NOT IN (SELECT * FROM _Z_intarray\(arrays.count - 1))")
        }
        // Sort columns and expressions must not filter rows.
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
        // A count with a limit or an offset counts the rows of a subselect.
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

    /// Generates a part of the statement whose values are bound before those of all other parts.
    private mutating func inFront<Part>(
        _ write: (inout SQLGenerator) throws(StoreError) -> Part
    ) throws(StoreError) -> Part {
        let others = values
        values = []
        let part = try write(&self)
        values += others
        return part
    }

    /// The selection of a dictionary result, and the clauses after its conditions.
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
        // A column gets an alias only if a clause refers to it.
        let list = columns.indices.map { position in
            let alias = Self.alias(ofColumn: position)
            let isNamed = tail.split { !$0.isLetter && !$0.isNumber }.contains(Substring(alias))
            return columns[position].sql.drop { $0 == " " } + (isNamed ? " AS \(alias)" : "")
        }
        var sortKeys = ""
        if selectsSortKeys {
            var count = columns.count
            for column in order.columns {
                // A column that is already selected has an alias.
                let name = column.drop { $0 == " " }
                if let position = columns.indices.first(where: { Self.alias(ofColumn: $0) == name }) {
                    sortColumns.append(Int32(position))
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

    /// The condition for an entity's rows in its tree's table; `nil` if all rows match.
    private mutating func entityCondition() -> String? {
        let schema = entity.schema
        guard schema.isInTree else { return nil }
        if schema.parent == nil, terms.includesSubentities { return nil }
        let wanted = terms.includesSubentities ? schema.family : [schema.index]
        let numbers = wanted.map { model.entities[$0].number }.sorted()
        values += numbers.map { .integer($0) }
        if numbers.count == 1 { return " t0.Z_ENT = ?" }
        return " t0.Z_ENT IN (\(Array(repeating: "?", count: numbers.count).joined(separator: ", ")))"
    }

    private mutating func sortColumn(_ keyPath: String) throws(StoreError) -> String {
        let isNamed = form == .expressions && terms.expressions.contains { $0.name == keyPath }
        let path = FetchPath(keyPath)
        if !isNamed, isCollection(path) { throw severalSortKeys(path) }
        if form == .expressions { return try namedColumn(keyPath) }
        let operand = try operand(.path(path))
        if case .object = operand.type, operand.property != nil {
            throw invalid("'\(keyPath)' is a relationship and has no order; sort by an attribute of its destination.")
        }
        return operand.sql
    }

    private func severalSortKeys(_ path: FetchPath) -> StoreError {
        var relationship = path
        while isCollection(FetchPath(relationship.names.dropLast().joined(separator: "."))) {
            relationship.names.removeLast()
        }
        let rest = path.names.dropFirst(relationship.names.count)
        let aggregate = relationship.names + (rest.isEmpty ? ["@count"] : ["@min"] + rest)
        return invalid(
            "'\(path.text(values: false))' goes through '\(relationship.names.last ?? "")', which is to-many, so an object has several sort keys; sort by one value, such as '\(aggregate.joined(separator: "."))'."
        )
    }
}
