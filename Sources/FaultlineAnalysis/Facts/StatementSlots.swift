/// What the parameters and values of a statement are compared with.
package struct StatementSlots: Sendable, Hashable {
    /// One parameter or value.
    package enum Slot: Sendable, Hashable {
        /// It is compared with a column. The table is `nil` if the statement does not name it.
        case column(table: String?, name: String)
        /// A column is compared with it as a pattern of `LIKE` or `GLOB`.
        case pattern(table: String?, name: String, operation: String)
        /// The character that escapes wildcards in a pattern.
        case escape
        /// The number of rows to return, or to skip.
        case limit, offset
        /// It is selected, as in `SELECT 1`.
        case selected
        case other
    }

    /// A parameter or value, or the end of a list of them, with its place in the text.
    package struct Place: Sendable, Hashable {
        package var slot: Slot
        package var range: Range<String.Index>
        /// Whether a list of any length ends here: `?, …`.
        package var isList = false
    }

    package private(set) var places: [Place] = []
    /// The tables that the statement reads or writes.
    package private(set) var tables: [String] = []
    /// Whether the statement has conditions of which one suffices, or that must not hold.
    package private(set) var hasAlternatives = false

    package init(_ sql: String) {
        let tokens = StatementText.tokens(of: sql)
        let names = Self.names(of: tokens)
        tables = names.map(\.table)
        hasAlternatives = tokens.contains { $0.isKeyword("OR") || $0.isKeyword("NOT") }
        var aliases: [String: String] = [:]
        for name in names { (aliases[name.alias.lowercased()], aliases[name.table.lowercased()]) = (name.table, name.table) }
        let from = tokens.firstIndex { $0.isKeyword("FROM") } ?? tokens.endIndex
        var offsetFirst = false
        for index in tokens.indices where tokens[index].text == "?" && !tokens[index].isName {
            let range = tokens[index].range
            if index + 2 < tokens.count, tokens[index + 1].text == ",", tokens[index + 2].text == "…" {
                let slot = Self.compared(tokens, before: index, aliases)
                places.append(Place(slot: slot, range: range.lowerBound..<tokens[index + 2].range.upperBound, isList: true))
                continue
            }
            let before = index > 0 ? tokens[index - 1] : nil
            var slot = Slot.other
            if before?.isKeyword("LIMIT") == true {
                offsetFirst = index + 1 < tokens.count && tokens[index + 1].text == ","
                slot = offsetFirst ? .offset : .limit
            } else if before?.isKeyword("OFFSET") == true {
                slot = .offset
            } else if before?.isKeyword("ESCAPE") == true {
                slot = .escape
            } else if before?.text == ",", offsetFirst {
                slot = .limit
            } else {
                slot = Self.compared(tokens, before: index, aliases)
                if slot == .other, index < from, tokens.first?.isKeyword("SELECT") == true { slot = .selected }
            }
            places.append(Place(slot: slot, range: range))
        }
    }

    /// The column that a value is compared with.
    private static func compared(
        _ tokens: [StatementText.Token], before value: Int, _ aliases: [String: String]
    ) -> Slot {
        var index = value - 1
        while index >= 0, tokens[index].text == "(" { index -= 1 }
        guard index >= 0 else { return .other }
        let sign = tokens[index]
        let operation = sign.text.uppercased()
        let comparisons: Set<String> = ["=", "==", "<", "<=", ">", ">=", "<>", "!=", "IN", "BETWEEN", "IS"]
        let isPattern = ["LIKE", "GLOB"].contains(operation)
        // "BETWEEN ? AND ?"
        if operation == "AND", index >= 3, tokens[index - 1].text == "?", tokens[index - 2].isKeyword("BETWEEN") {
            return column(tokens, endingAt: index - 3, aliases) ?? .other
        }
        if comparisons.contains(operation) || isPattern {
            index -= 1
            if index >= 0, tokens[index].isKeyword("NOT") { index -= 1 }
            guard let found = column(tokens, endingAt: index, aliases) else { return .other }
            guard isPattern, case .column(let table, let name) = found else { return found }
            return .pattern(table: table, name: name, operation: operation)
        }
        return .other
    }

    private static func column(
        _ tokens: [StatementText.Token], endingAt end: Int, _ aliases: [String: String]
    ) -> Slot? {
        guard tokens.indices.contains(end), tokens[end].isName else { return nil }
        let qualifier = end >= 2 && tokens[end - 1].text == "." && tokens[end - 2].isName ? tokens[end - 2].text : nil
        guard let qualifier else { return .column(table: nil, name: tokens[end].text) }
        return .column(table: aliases[qualifier.lowercased()] ?? qualifier, name: tokens[end].text)
    }

    private static let clauses: Set<String> = [
        "WHERE", "JOIN", "ON", "LEFT", "INNER", "OUTER", "CROSS", "NATURAL", "ORDER", "GROUP", "LIMIT", "USING",
        "INDEXED", "NOT", "SET", "VALUES", "SELECT", "HAVING", "UNION", "RETURNING", "DEFAULT", "WINDOW",
    ]

    /// The tables behind `FROM`, `JOIN`, `INTO` and `UPDATE`, with their aliases.
    private static func names(of tokens: [StatementText.Token]) -> [(table: String, alias: String)] {
        var found: [(table: String, alias: String)] = []
        for index in tokens.indices {
            let begins = ["FROM", "JOIN", "INTO", "UPDATE"].contains { tokens[index].isKeyword($0) }
            guard begins else { continue }
            var next = index + 1
            repeat {
                guard let path = StatementText.name(at: next, in: tokens[...]), let table = path.last,
                    !clauses.contains(table.uppercased()) || tokens[next].isQuoted
                else { break }
                next += 2 * path.count - 1
                if next < tokens.count, tokens[next].isKeyword("AS") { next += 1 }
                var alias = table
                if next < tokens.count, tokens[next].isName, !clauses.contains(tokens[next].text.uppercased()) {
                    alias = tokens[next].text
                    next += 1
                }
                found.append((table, alias))
                guard next < tokens.count, tokens[next].text == "," else { break }
                next += 1
            } while next < tokens.count
        }
        return found
    }
}
