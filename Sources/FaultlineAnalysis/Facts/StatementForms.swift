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
    private let column: String
    private let isDescending: Bool

    /// - Returns: `nil` if the statement has a condition or several tables.
    package init?(_ sql: String, _ column: String, _ isDescending: Bool) {
        let statement = StatementText(sql)
        guard let table = statement.table, !statement.hasCondition, StatementSlots(sql).tables.count == 1,
            !statement.selection.isEmpty
        else { return nil }
        (selection, self.table) = (statement.selection, StatementText.quoted(table))
        (self.column, self.isDescending) = (StatementText.quoted(column), isDescending)
    }

    private var order: String { "ORDER BY \(column)\(isDescending ? " DESC" : "")" }

    /// The query for the value of the last row before a page.
    package func last(before skipped: UInt64) -> String {
        "SELECT \(column) FROM \(table) \(order) LIMIT 1 OFFSET \(max(1, skipped) - 1)"
    }

    /// The query for a page, with the value of the last row before it as its parameter.
    package func text(rows: UInt64) -> String {
        "SELECT \(selection) FROM \(table) WHERE \(column) \(isDescending ? "<" : ">") ? \(order) LIMIT \(rows)"
    }
}
