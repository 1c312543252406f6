internal import FaultlineProfile

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
        let space = beginning.last?.isWhitespace == true ? "" : " "
        return "\(beginning)\(space)IN (\(list))\(end)" + (isAggregated ? " GROUP BY \(column)" : "")
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

/// A statement that selects something else of the same rows.
package struct StatementSelection: Sendable, Hashable {
    /// The statement behind its selection.
    private let rest: String
    /// The same without the order, which does not change the number of rows unless there is a limit.
    private let unordered: String
    private let isLimited: Bool
    /// Whether the statement selects columns and no expressions, gives them no names, and sorts by none of their positions:
    /// the rest of the statement then does not depend on the selection.
    package let isPlain: Bool
    /// Whether these are columns of its only table.
    package let isOfColumns: Bool

    /// - Returns: `nil` if the number of rows depends on the selection.
    package init?(_ sql: String) {
        let statement = StatementText(sql), tokens = StatementText.tokens(of: sql)
        let isCompound = tokens.contains { token in
            ["UNION", "INTERSECT", "EXCEPT"].contains { token.isKeyword($0) }
        }
        let selection = statement.selectionSQL
        guard !selection.isEmpty, !statement.isAggregated, !statement.hasDistinctOrWindows, !isCompound,
            tokens.count > 1, tokens[0].isKeyword("SELECT")
        else { return nil }
        let end = sql.index(tokens[1].range.lowerBound, offsetBy: selection.count)
        rest = String(sql[end...])
        unordered = String(sql[end..<(Self.order(in: tokens) ?? sql.endIndex)])
        isLimited = statement.isLimited
        let parts = StatementText.tokens(of: selection).split { $0.text == "," }
        let hasOnlyColumns = parts.allSatisfy { part in
            guard let last = part.last, part.count == 1 || part.count == 3 && part.dropFirst().first?.text == "." else {
                return false
            }
            let isKeyword = !last.isQuoted && SQLKeywords.all.contains(last.text.uppercased())
            return last.text == "*" || last.isName && !isKeyword
        }
        let sortsByPosition = zip(tokens, tokens.dropFirst()).contains { $0.isKeyword("BY") && $1.text == "?" }
        isPlain = hasOnlyColumns && !sortsByPosition
        isOfColumns = isPlain && statement.conditions.names.count == 1 && !selection.contains(".*")
    }

    /// The place of the statement's own order, not of one in parentheses, with the space before it.
    private static func order(in tokens: [StatementText.Token]) -> String.Index? {
        var depth = 0
        for (before, token) in zip(tokens, tokens.dropFirst()) {
            if before.text == "(" { depth += 1 }
            if before.text == ")" { depth -= 1 }
            if depth == 0, token.isKeyword("ORDER") { return before.range.upperBound }
        }
        return nil
    }

    /// The statement that counts the rows.
    package var count: String {
        isLimited ? "SELECT count(*) FROM (SELECT 1\(rest))" : "SELECT count(*)\(unordered)"
    }

    /// The statement that returns whether there is a row.
    package var existence: String { "SELECT EXISTS (SELECT 1\(isLimited ? rest : unordered))" }

    /// The statement that selects columns by their names.
    package func columns(_ names: [String]) -> String {
        "SELECT \(names.map(StatementText.quoted).joined(separator: ", "))\(rest)"
    }
}
