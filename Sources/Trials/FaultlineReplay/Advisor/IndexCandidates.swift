import CSQLite
import FaultlineProfile

/// An index that could serve a statement.
struct IndexCandidate: Hashable {
    /// A column or an expression of an index.
    struct Key: Hashable {
        /// The column or the expression, in SQL.
        var sql: String
        /// The name for the index's own name.
        var name: String
        /// The collation, if it is not the column's own.
        var collation: String?
        var isDescending = false

        var text: String {
            sql + (collation.map { " COLLATE \($0)" } ?? "") + (isDescending ? " DESC" : "")
        }
    }

    /// The name of its database: `main`, `temp`, or that of an attached one.
    var database: String
    var table: String
    var keys: [Key]
    /// The condition of the rows that it has, in SQL, or `nil` for all rows.
    var condition: String?

    var columns: String { keys.map(\.text).joined(separator: ", ") }

    func creation(named name: String) -> String {
        let database =
            switch database {
            case "main": ""
            // A keyword that needs no quotes here.
            case "temp": "temp."
            default: StatementText.quoted(database) + "."
            }
        return "CREATE INDEX \(database)\(StatementText.quoted(name)) ON \(StatementText.quoted(table))(\(columns))"
            + (condition.map { " WHERE \($0)" } ?? "")
    }

    /// Whether another index on the same table begins with the same keys, and has the same rows or more.
    func isPrefix(of other: IndexCandidate) -> Bool {
        (database, table) == (other.database, other.table) && keys.count <= other.keys.count
            && Array(other.keys.prefix(keys.count)) == keys
            && (other.condition == nil || other.condition == condition)
    }

    /// The index of the rows that meet a condition; its column leads to no row then, unless it is the only one.
    func restricted(to test: NullTest) -> IndexCandidate {
        var index = self
        index.keys.removeAll { $0.sql == test.column }
        if index.keys.isEmpty { index.keys = keys }
        index.condition = test.text
        return index
    }
}

/// A term `IS NULL` or `IS NOT NULL` of a statement, which is the same in each run.
struct NullTest: Hashable {
    /// The position of the table in the schema.
    var table: Int
    /// The column, in SQL.
    var column: String
    var isNull: Bool

    var text: String { column + (isNull ? " IS NULL" : " IS NOT NULL") }
}

/// The indexes that the planner's questions suggest.
struct IndexCandidates {
    /// The comparisons with one value or with the values of a list.
    static let equalities: Set<Int32> = [
        SQLITE_INDEX_CONSTRAINT_EQ, SQLITE_INDEX_CONSTRAINT_IS, SQLITE_INDEX_CONSTRAINT_ISNULL,
    ]
    private static let ranges: Set<Int32> = [
        SQLITE_INDEX_CONSTRAINT_GT, SQLITE_INDEX_CONSTRAINT_GE, SQLITE_INDEX_CONSTRAINT_LT, SQLITE_INDEX_CONSTRAINT_LE,
        SQLITE_INDEX_CONSTRAINT_LIKE, SQLITE_INDEX_CONSTRAINT_GLOB,
    ]
    /// The most columns of an index, and the most indexes to try for one statement.
    private static let mostColumns = 6
    private static let most = 200

    private(set) var all: [IndexCandidate] = []
    private(set) var nullTests: Set<NullTest> = []
    private let schema: AdvisedSchema
    private let expressions: [IndexableExpression]
    private var seen: Set<IndexCandidate> = []

    init(_ schema: AdvisedSchema, _ expressions: [IndexableExpression]) {
        (self.schema, self.expressions) = (schema, expressions)
    }

    private struct Part: Hashable {
        var column: Int
        var isDescending = false
        var collation: String?
    }

    /// Adds the indexes that a question suggests.
    mutating func add(_ question: PlannerQuestion) {
        var (equal, lists, ranges): ([Part], [Part], [Part]) = ([], [], [])
        let columns = schema.tables[question.table].columns
        for comparison in question.comparisons where columns.indices.contains(comparison.column) {
            let isNull = comparison.operation == SQLITE_INDEX_CONSTRAINT_ISNULL
            guard isNull || comparison.operation == SQLITE_INDEX_CONSTRAINT_ISNOTNULL else { continue }
            let column = StatementText.quoted(columns[comparison.column].name)
            nullTests.insert(NullTest(table: question.table, column: column, isNull: isNull))
        }
        for comparison in question.comparisons where comparison.isUsable && comparison.column >= 0 {
            var part = Part(
                column: comparison.column, collation: question.collation == nil ? comparison.collation : nil)
            let isKnown = (equal + lists).contains { $0.column == part.column }
            if isKnown { continue }
            if comparison.operation == SQLITE_INDEX_CONSTRAINT_EQ, comparison.isList {
                lists.append(part)
            } else if Self.equalities.contains(comparison.operation) {
                equal.append(part)
            } else if Self.ranges.contains(comparison.operation), !ranges.contains(where: { $0.column == part.column })
            {
                if comparison.operation == SQLITE_INDEX_CONSTRAINT_LIKE { part.collation = "NOCASE" }
                ranges.append(part)
            }
        }
        // An index is read in both directions, so only a mixture needs them.
        let isMixed = Set(question.order.map(\.isDescending)).count > 1
        let order = question.order.map { order in
            Part(column: order.column, isDescending: isMixed && order.isDescending, collation: question.collation)
        }
        for start in [equal, equal + lists] {
            add(start, to: question.table)
            for range in ranges { add(start + [range], to: question.table) }
            guard !order.isEmpty else { continue }
            add(start + order, to: question.table)
            // The rest makes the index cover the comparison.
            add(start + order + ranges, to: question.table)
        }
        add(order, to: question.table)
        for part in equal + lists + ranges { add([part], to: question.table) }
    }

    /// Adds the indexes with which SQLite finds the rows that refer to changed or deleted rows of a table.
    mutating func addReferences(to table: String) {
        for number in schema.tables.indices {
            for reference in schema.tables[number].references where reference.table.lowercased() == table.lowercased() {
                add(reference.columns.map { Part(column: $0) }, to: number)
            }
        }
    }

    private mutating func add(_ parts: [Part], to number: Int) {
        let table = schema.tables[number]
        var used: [Part] = []
        for part in parts where !used.contains(where: { $0.column == part.column }) {
            // The row ID ends every index anyway, and nothing can follow it.
            if part.column < 0
                || part.column < table.columns.count && table.hasRowID && table.columns[part.column].isRowID
            {
                break
            }
            used.append(part)
        }
        guard !used.isEmpty, used.count <= Self.mostColumns, all.count < Self.most, !exists(used, on: table),
            let keys = keys(used, on: number)
        else { return }
        let candidate = IndexCandidate(database: table.database, table: table.name, keys: keys)
        if seen.insert(candidate).inserted { all.append(candidate) }
    }

    private func keys(_ parts: [Part], on number: Int) -> [IndexCandidate.Key]? {
        let table = schema.tables[number]
        let own = expressions.filter { $0.tables.contains(number) }
        var keys: [IndexCandidate.Key] = []
        for part in parts {
            if part.column < table.columns.count {
                let column = table.columns[part.column]
                let collation = part.collation.flatMap { $0.uppercased() == column.collation.uppercased() ? nil : $0 }
                keys.append(
                    .init(
                        sql: StatementText.quoted(column.name), name: column.name, collation: collation,
                        isDescending: part.isDescending))
            } else {
                let position = part.column - table.columns.count
                guard own.indices.contains(position) else { return nil }
                let words = own[position].sql.split { !($0.isLetter || $0.isNumber || $0 == "_") }
                let collation = part.collation.flatMap { $0.uppercased() == "BINARY" ? nil : $0 }
                keys.append(
                    .init(
                        sql: own[position].sql, name: words.prefix(3).joined(separator: "_"), collation: collation,
                        isDescending: part.isDescending))
            }
        }
        return keys
    }

    /// Whether an index of the table begins with these columns.
    private func exists(_ parts: [Part], on table: AdvisedSchema.Table) -> Bool {
        table.indexes.contains { index in
            index.keys.count >= parts.count
                && zip(index.keys, parts).allSatisfy { key, part in
                    key.column == part.column && part.column < table.columns.count
                        && key.collation.uppercased()
                            == (part.collation ?? table.columns[part.column].collation).uppercased()
                }
        }
    }
}
