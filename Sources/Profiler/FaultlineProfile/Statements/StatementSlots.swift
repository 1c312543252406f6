/// The columns with which a statement compares its parameters and values.
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

        package var isColumn: Bool { if case .column = self { true } else { false } }
    }

    /// A parameter or value, or the end of a list of them, with its place in the text.
    package struct Place: Sendable, Hashable {
        package var slot: Slot
        package var range: Range<String.Index>
        /// Whether a list of any length ends here: `?, …`.
        package var isList = false
    }

    package private(set) var places: [Place] = []
    /// The tables that the statement reads or writes, with the names that it gives them.
    package private(set) var names: [TableName] = []
    /// The columns that conditions compare with one value for equality.
    package private(set) var equalities: [Column] = []
    /// The columns of two tables that are compared for equality.
    package private(set) var joins: [Set<Column>] = []
    /// Whether the statement has conditions of which one suffices, or that must not hold.
    package private(set) var hasAlternatives = false
    /// Whether a condition compares texts by other rules than those of the columns.
    package private(set) var hasCollation = false

    package struct TableName: Sendable, Hashable {
        package var table: String
        package var alias: String
    }

    package struct Column: Sendable, Hashable {
        /// The table, or `nil` if the statement does not name it.
        package var table: String?
        package var name: String
    }

    package var tables: [String] { names.map(\.table) }

    /// The first comparison with a pattern, if it is of a column of the table.
    func search(in table: String?) -> StatementText.Search? {
        for place in places {
            guard case .pattern(let owner, let name, let operation) = place.slot else { continue }
            return owner == table ? StatementText.Search(column: name, operation: operation) : nil
        }
        return nil
    }

    package init(_ sql: String) { self.init(StatementText.tokens(of: sql)) }

    init(_ tokens: [StatementText.Token]) {
        let subqueries = Self.subqueries(of: tokens)
        names = Self.names(of: tokens).filter { !subqueries.contains($0.table.lowercased()) }
        hasAlternatives = tokens.indices.contains { index in
            tokens[index].isKeyword("OR")
                || tokens[index].isKeyword("NOT") && !(index > 0 && tokens[index - 1].isKeyword("IS"))
        }
        hasCollation = tokens.contains { $0.isKeyword("COLLATE") }
        let condition = tokens.firstIndex { $0.isKeyword("WHERE") } ?? tokens.endIndex
        var offsetFirst = false
        for index in tokens.indices where ["?", "…"].contains(tokens[index].text) && !tokens[index].isName {
            let range = tokens[index].range
            if tokens[index].text == "…" {
                // "IN (…)"; the one in "?, …" belongs to the value before it.
                guard index > 0, tokens[index - 1].text != "," else { continue }
                places.append(Place(slot: compared(tokens, before: index).slot, range: range, isList: true))
                continue
            }
            if index + 2 < tokens.count, tokens[index + 1].text == ",", tokens[index + 2].text == "…" {
                let slot = compared(tokens, before: index).slot
                places.append(
                    Place(slot: slot, range: range.lowerBound..<tokens[index + 2].range.upperBound, isList: true))
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
                var found = compared(tokens, before: index)
                if found.slot == .other, let column = comparedAfter(tokens, index) {
                    found = (.column(table: column.table, name: column.name), true)
                }
                slot = found.slot
                if index > condition, found.isEquality, case .column(let table, let name) = slot {
                    equalities.append(Column(table: table, name: name))
                }
                if slot == .other, Self.isSelected(tokens, index) { slot = .selected }
            }
            places.append(Place(slot: slot, range: range))
        }
        for index in tokens.indices where tokens[index].text == "=" {
            guard let left = column(tokens, endingAt: index - 1), let right = column(tokens, at: index + 1),
                left.table != nil, right.table != nil, left.table != right.table
            else { continue }
            joins.append([left, right])
        }
    }

    private static let clausesOfRows: Set<String> = [
        "FROM", "WHERE", "BY", "HAVING", "ON", "SET", "VALUES", "LIMIT", "RETURNING",
    ]

    /// Whether a value stands in the list of selected columns.
    private static func isSelected(_ tokens: [StatementText.Token], _ value: Int) -> Bool {
        var depth = 0
        for token in tokens[..<value].reversed() {
            if token.text == ")", !token.isName { depth += 1 }
            // Out of parentheses again, it goes on with those around them.
            if token.text == "(", !token.isName { depth = max(0, depth - 1) }
            guard depth == 0, token.isName, !token.isQuoted else { continue }
            let word = token.text.uppercased()
            if word == "SELECT" { return true }
            if clausesOfRows.contains(word) { return false }
        }
        return false
    }

    /// The column that a value is compared with.
    private func compared(_ tokens: [StatementText.Token], before value: Int) -> (slot: Slot, isEquality: Bool) {
        var index = value - 1
        while index >= 0, tokens[index].text == "(" {
            index -= 1
            // The value of a function is compared: lower(name) = lower(?).
            let isWrapped =
                index > 0 && tokens[index].isName && Self.comparisons.contains(tokens[index - 1].text.uppercased())
                && value + 1 < tokens.count && tokens[value + 1].text == ")"
            if isWrapped, tokens[index].text.uppercased() != "IN" { index -= 1 }
        }
        guard index >= 0 else { return (.other, false) }
        let operation = tokens[index].text.uppercased()
        let isPattern = ["LIKE", "GLOB"].contains(operation)
        // "BETWEEN ? AND ?"
        if operation == "AND", index >= 3, tokens[index - 1].text == "?", tokens[index - 2].isKeyword("BETWEEN"),
            let found = column(tokens, endingAt: index - 3)
        {
            return (.column(table: found.table, name: found.name), false)
        }
        guard Self.comparisons.contains(operation) || isPattern else { return (.other, false) }
        index -= 1
        if index >= 0, tokens[index].isKeyword("NOT") { index -= 1 }
        guard let found = column(tokens, endingAt: index) else { return (.other, false) }
        if isPattern { return (.pattern(table: found.table, name: found.name, operation: operation), false) }
        return (.column(table: found.table, name: found.name), ["=", "=="].contains(operation))
    }

    /// The column that a value before it is compared with: `? = author.id`.
    private func comparedAfter(_ tokens: [StatementText.Token], _ value: Int) -> Column? {
        guard value + 1 < tokens.count, tokens[value + 1].text == "=" else { return nil }
        return column(tokens, at: value + 2)
    }

    private func column(_ tokens: [StatementText.Token], at start: Int) -> Column? {
        guard let path = StatementText.name(at: start, in: tokens[...]), let name = path.last else { return nil }
        let end = start + 2 * path.count - 1
        // A function, or a part of an expression.
        if end < tokens.count, tokens[end].text == "(" || Self.operators.contains(tokens[end].text) { return nil }
        return Column(table: path.count > 1 ? table(named: path[path.count - 2]) : onlyTable, name: name)
    }

    private func column(_ tokens: [StatementText.Token], endingAt end: Int) -> Column? {
        guard tokens.indices.contains(end), tokens[end].isName else { return nil }
        var start = end
        while start >= 2, tokens[start - 1].text == ".", tokens[start - 2].isName { start -= 2 }
        if start > 0, Self.operators.contains(tokens[start - 1].text) { return nil }
        return column(tokens, at: start)
    }

    private static let comparisons: Set<String> = ["=", "==", "<", "<=", ">", ">=", "<>", "!=", "IN", "BETWEEN", "IS"]
    private static let operators: Set<String> = ["||", "+", "-", "*", "/", "%", "&", "|", "<<", ">>", "->", "->>"]

    /// The table that a name stands for, or `nil` if it is that of a subquery.
    private func table(named alias: String) -> String? {
        names.first { $0.alias.lowercased() == alias.lowercased() }?.table
            ?? names.first { $0.table.lowercased() == alias.lowercased() }?.table
    }

    private var onlyTable: String? { names.count == 1 ? names[0].table : nil }

    /// The names that `WITH` gives to subqueries.
    private static func subqueries(of tokens: [StatementText.Token]) -> Set<String> {
        guard tokens.first?.isKeyword("WITH") == true else { return [] }
        return Set(
            tokens.indices.dropFirst(2).filter { tokens[$0].text == "(" && tokens[$0 - 1].isKeyword("AS") }.map {
                index in
                // "name(columns) AS ("
                var name = index - 2
                if tokens[name].text == ")" { while name > 0, tokens[name].text != "(" { name -= 1 }; name -= 1 }
                return name >= 0 ? tokens[name].text.lowercased() : ""
            })
    }

    private static let clauses: Set<String> = [
        "WHERE", "JOIN", "ON", "LEFT", "INNER", "OUTER", "CROSS", "NATURAL", "ORDER", "GROUP", "LIMIT", "USING",
        "INDEXED", "NOT", "SET", "VALUES", "SELECT", "HAVING", "UNION", "RETURNING", "DEFAULT", "WINDOW",
    ]

    /// The tables behind `FROM`, `JOIN`, `INTO` and `UPDATE`, with their aliases.
    private static func names(of tokens: [StatementText.Token]) -> [TableName] {
        var found: [TableName] = []
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
                found.append(TableName(table: table, alias: alias))
                guard next < tokens.count, tokens[next].text == "," else { break }
                next += 1
            } while next < tokens.count
        }
        return found
    }
}
