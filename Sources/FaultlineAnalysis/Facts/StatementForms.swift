/// A statement that reads the rows of several runs of another one.
package struct JoinedStatement: Sendable, Hashable {
    private let statement: StatementText
    private let table: String
    private let column: String

    /// - Returns: `nil` if the statement does more than compare a column with one value.
    package init?(_ sql: String) {
        statement = StatementText(sql)
        guard statement.comparesOnlyThat, let table = statement.table, let column = statement.comparedColumn,
            !statement.selection.isEmpty
        else { return nil }
        (self.table, self.column) = (table, column)
    }

    /// - Parameter count: The number of values.
    package func text(values count: Int) -> String {
        let list = Array(repeating: "?", count: count).joined(separator: ", ")
        let name = StatementText.quoted(column)
        return "SELECT \(name), \(statement.selection) FROM \(StatementText.quoted(table)) WHERE \(name) IN (\(list))"
            + (statement.isAggregated ? " GROUP BY \(name)" : "")
    }
}

/// A statement that returns a page behind a row, in the place of one with an offset.
package struct StatementPage: Sendable, Hashable {
    private let selection: String
    private let table: String
    /// The columns that order the pages, the last one unique.
    private let columns: [String]
    private let isDescending: Bool

    /// - Returns: `nil` if the statement has a condition or several tables.
    package init?(_ sql: String, _ column: String, _ isDescending: Bool) {
        let statement = StatementText(sql)
        guard let table = statement.table, !statement.hasCondition, StatementSlots(sql).tables.count == 1,
            !statement.selection.isEmpty
        else { return nil }
        (selection, self.table) = (statement.selection, StatementText.quoted(table))
        columns = [StatementText.quoted(column)] + (["id", "rowid"].contains(column.lowercased()) ? [] : ["rowid"])
        self.isDescending = isDescending
    }

    private var order: String {
        "ORDER BY " + columns.map { $0 + (isDescending ? " DESC" : "") }.joined(separator: ", ")
    }

    /// The query for the values of the last row before a page.
    package func last(before skipped: UInt64) -> String {
        "SELECT \(columns.joined(separator: ", ")) FROM \(table) \(order) LIMIT 1 OFFSET \(max(1, skipped) - 1)"
    }

    /// The query for a page, with the values of the last row before it as its parameters.
    package func text(rows: UInt64) -> String {
        let values = columns.map { _ in "?" }.joined(separator: ", ")
        return
            "SELECT \(selection) FROM \(table) WHERE (\(columns.joined(separator: ", "))) \(isDescending ? "<" : ">") (\(values)) "
            + "\(order) LIMIT \(rows)"
    }
}
