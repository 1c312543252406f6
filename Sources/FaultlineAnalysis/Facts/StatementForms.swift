/// A statement that reads the rows of several runs of another one.
package struct JoinedStatement: Sendable, Hashable {
    /// The text before the comparison with one value, and behind it.
    private let beginning: String
    private let end: String
    /// The compared column, as the statement has it.
    private let column: String
    private let isAggregated: Bool

    /// - Returns: `nil` if the statement does more than compare a column with one value.
    package init?(_ sql: String) {
        let statement = StatementText(sql), tokens = StatementText.tokens(of: sql)
        guard statement.comparesOnlyThat, !statement.hasDistinctOrWindows,
            let sign = tokens.lastIndex(where: { $0.text == "=" }), sign > 0,
            sign + 1 < tokens.count, tokens[sign + 1].text == "?"
        else { return nil }
        var start = sign - 1
        while start >= 2, tokens[start - 1].text == ".", tokens[start - 2].isName { start -= 2 }
        column = String(sql[tokens[start].range.lowerBound..<tokens[sign - 1].range.upperBound])
        beginning = String(sql[..<tokens[sign].range.lowerBound])
        end = String(sql[tokens[sign + 1].range.upperBound...])
        isAggregated = statement.isAggregated
    }

    /// - Parameter count: The number of values.
    package func text(values count: Int) -> String {
        let list = Array(repeating: "?", count: count).joined(separator: ", ")
        return "\(beginning)IN (\(list))\(end)" + (isAggregated ? " GROUP BY \(column)" : "")
    }
}

/// A statement that returns a page behind a row, in the place of one with an offset.
package struct StatementPage: Sendable, Hashable {
    private let selection: String
    private let table: String
    /// The columns that order the pages, the last one unique.
    private let columns: [String]
    private let isDescending: Bool

    /// - Parameter isUnique: Whether no two rows have the same value of the column.
    /// - Returns: `nil` if the statement has a condition or several tables.
    package init?(_ sql: String, _ column: String, isUnique: Bool, isDescending: Bool) {
        let statement = StatementText(sql), names = StatementSlots(sql).names
        guard names.count == 1, names[0].alias == names[0].table, !statement.hasCondition,
            !statement.hasDistinctOrWindows,
            !statement.selectionSQL.isEmpty
        else { return nil }
        (selection, table) = (statement.selectionSQL, StatementText.quoted(names[0].table))
        columns = [StatementText.quoted(column)] + (isUnique ? [] : ["rowid"])
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
