/// The parts of a statement that advice names, if it reads, updates or deletes rows.
///
/// The text has no literals: parameters and values are question marks, and lists of them end with an ellipsis. Names can
/// be quoted.
struct StatementText: Sendable, Hashable {
    /// The first table, or `nil` if the statement selects from none or from a subquery.
    private(set) var table: String?
    /// The selected columns without their tables; empty for `*` and for expressions.
    private(set) var columns: [String] = []
    /// The first column that `WHERE` compares with one value for equality.
    private(set) var comparedColumn: String?
    /// Whether that comparison is the whole condition, and neither an order, a limit nor a group follows.
    private(set) var comparesOnlyThat = false
    /// Whether the statement aggregates rows, so that its result does not show how many matched.
    private(set) var isAggregated = false
    /// Whether the statement skips rows, as for a page.
    private(set) var isPaged = false
    /// Whether the statement selects all rows of its table, in no order.
    private(set) var isWholeTable = false
    /// The columns of its one table that the statement sorts all rows by, or none if it sorts otherwise.
    private(set) var order: [SortedColumn] = []
    /// The selected expressions, as the statement has them.
    private(set) var selection = ""
    /// Whether the statement has parameters or values.
    let hasValues: Bool
    /// The statement without quotes, with an ellipsis for the selected columns: `"SELECT … FROM author WHERE id = ?"`.
    let summary: String

    /// A column in `ORDER BY`.
    struct SortedColumn: Sendable, Hashable {
        var name: String
        var isDescending = false
    }

    /// Whether the table is one of SQLite's own, such as `sqlite_master`, which libraries read for themselves.
    var isOfSQLite: Bool { table?.lowercased().hasPrefix("sqlite_") == true }

    init(_ sql: String) {
        hasValues = sql.contains("?") || sql.contains("…")
        let tokens = Self.tokens(of: sql)
        let depths = Self.depths(of: tokens)
        let keyword = { (word: String, start: Int) in
            tokens.indices.dropFirst(start).first { depths[$0] == 0 && tokens[$0].isKeyword(word) }
        }
        isPaged = keyword("OFFSET", 0) != nil
        guard tokens.first?.isKeyword("SELECT") == true, let from = keyword("FROM", 0) else {
            summary = sql
            let isUpdate = tokens.first?.isKeyword("UPDATE") == true,
                isDelete = tokens.first?.isKeyword("DELETE") == true
            guard isUpdate || isDelete, let first = isUpdate ? 0 : keyword("FROM", 0) else { return }
            table = Self.name(at: first + 1, in: tokens[...])?.last
            if let condition = keyword("WHERE", first) {
                comparedColumn = Self.comparedColumn(tokens[(condition + 1)...])
            }
            return
        }
        columns = Self.split(tokens[1..<from], depths).compactMap(Self.column)
        table = from + 1 < tokens.count ? Self.name(at: from + 1, in: tokens[...])?.last : nil
        if let condition = keyword("WHERE", from) {
            comparedColumn = Self.comparedColumn(tokens[(condition + 1)...])
            let rest = Self.withoutTable(tokens[(condition + 1)...], table)
            let column = comparedColumn ?? ""
            comparesOnlyThat = comparedColumn != nil && [[column, "=", "?"], ["?", "=", column]].contains(rest)
        }
        isWholeTable = ["WHERE", "ORDER", "LIMIT", "JOIN", "GROUP"].allSatisfy { keyword($0, from) == nil }
        let isPlain = ["WHERE", "JOIN", "GROUP", "UNION", "DISTINCT"].allSatisfy { keyword($0, 0) == nil }
        if isPlain, let order = keyword("ORDER", from), !tokens[from..<order].contains(where: { $0.text == "," }) {
            let end = keyword("LIMIT", order) ?? tokens.endIndex
            self.order = Self.sortedColumns(tokens[min(order + 2, end)..<end], depths)
        }
        isAggregated = keyword("GROUP", from) != nil || Self.hasAggregate(tokens[1..<from])
        selection = Self.joined(Self.withoutTable(tokens[1..<from], table))
        let isShort = columns.isEmpty && selection.count <= Self.shortSelection
        let selected = columns.count == 1 ? columns[0] : isShort ? selection : "…"
        summary = "SELECT \(selected) " + Self.joined(Self.withoutTable(tokens[from...], table))
    }

    /// The words of a part of the statement, without the table's name before its columns, which says nothing new.
    private static func withoutTable(_ tokens: ArraySlice<Token>, _ table: String?) -> [String] {
        var words: [String] = []
        var rest = tokens
        while let token = rest.popFirst() {
            if token.text == table, rest.first?.text == ".", rest.dropFirst().first?.isName == true {
                rest = rest.dropFirst()
            } else {
                words.append(token.text)
            }
        }
        return words
    }

    private static let aggregates: Set<String> = [
        "AVG", "COUNT", "GROUP_CONCAT", "MAX", "MIN", "SUM", "TOTAL", "STRING_AGG", "EXISTS",
    ]

    private static func hasAggregate(_ tokens: ArraySlice<Token>) -> Bool {
        zip(tokens, tokens.dropFirst()).contains { name, next in
            name.isName && !name.isQuoted && aggregates.contains(name.text.uppercased()) && next.text == "("
        }
    }

    /// The longest selection without columns that ``summary`` shows: `*` and `COUNT(*)`.
    private static let shortSelection = 30

    /// A name in SQL, in quotes if it needs them.
    private static func quoted(_ name: String) -> String {
        name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }
            ? name : "\"" + name.replacing("\"", with: "\"\"") + "\""
    }

    /// The statement that creates an index on columns of a table.
    static func index(on table: String, _ columns: [SortedColumn]) -> String {
        // An index is read in both directions, so only a mixture needs them.
        let isMixed = Set(columns.map(\.isDescending)).count > 1
        let list = columns.map { quoted($0.name) + (isMixed && $0.isDescending ? " DESC" : "") }
        let name = ([table] + columns.map(\.name)).joined(separator: "_")
        return "CREATE INDEX \(quoted(name)) ON \(quoted(table))(\(list.joined(separator: ", ")))"
    }

    // MARK: - Tokens

    private struct Token: Hashable {
        var text: String
        var isName = false
        var isQuoted = false

        func isKeyword(_ word: String) -> Bool { isName && !isQuoted && text.uppercased() == word }
    }

    private static func tokens(of sql: String) -> [Token] {
        var tokens: [Token] = []
        var rest = sql[...]
        while let first = rest.first {
            if first.isWhitespace {
                rest = rest.dropFirst()
            } else if let end = closers[first] {
                var name = rest.dropFirst().prefix { $0 != end }
                rest = rest[name.endIndex...].dropFirst()
                // A doubled quote stands for one in the name.
                while rest.first == end, end != "]" {
                    let more = rest.dropFirst().prefix { $0 != end }
                    name += String(end) + more
                    rest = rest[more.endIndex...].dropFirst()
                }
                tokens.append(Token(text: String(name), isName: true, isQuoted: true))
            } else if first.isLetter || first == "_" {
                let name = rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "$" }
                tokens.append(Token(text: String(name), isName: true))
                rest = rest[name.endIndex...]
            } else if first.isNumber {
                let number = rest.prefix { $0.isNumber || $0 == "." }
                tokens.append(Token(text: String(number)))
                rest = rest[number.endIndex...]
            } else {
                // Signs such as "<=" and "||" are one token.
                let sign = operators.contains(first) ? rest.prefix { operators.contains($0) } : rest.prefix(1)
                tokens.append(Token(text: String(sign)))
                rest = rest[sign.endIndex...]
            }
        }
        return tokens
    }

    private static let operators: Set<Character> = ["<", ">", "=", "!", "|", "-"]
    private static let closers: [Character: Character] = ["\"": "\"", "`": "`", "[": "]"]

    /// How many parentheses are open around each token.
    private static func depths(of tokens: [Token]) -> [Int] {
        var depth = 0
        return tokens.map { token in
            if token.text == "(" { depth += 1 }
            defer { if token.text == ")" { depth -= 1 } }
            return depth
        }
    }

    private static func split(_ tokens: ArraySlice<Token>, _ depths: [Int]) -> [ArraySlice<Token>] {
        var parts: [ArraySlice<Token>] = []
        var start = tokens.startIndex
        for index in tokens.indices where depths[index] == 0 && tokens[index].text == "," {
            parts.append(tokens[start..<index])
            start = index + 1
        }
        return parts + [tokens[start...]]
    }

    /// The names of a path such as `main.author.id`, or `nil` if there is none at the position.
    private static func name(at position: Int, in tokens: ArraySlice<Token>) -> [String]? {
        guard tokens.indices.contains(position), tokens[position].isName else { return nil }
        var names = [tokens[position].text]
        var next = position + 1
        while tokens.indices.contains(next + 1), tokens[next].text == ".", tokens[next + 1].isName {
            names.append(tokens[next + 1].text)
            next += 2
        }
        return names
    }

    /// The column of a selected item that is one, with or without an alias.
    private static func column(_ item: ArraySlice<Token>) -> String? {
        guard let path = name(at: item.startIndex, in: item) else { return nil }
        let rest = item.dropFirst(2 * path.count - 1)
        return rest.isEmpty || rest.first?.isKeyword("AS") == true ? path.last : nil
    }

    /// The columns of `ORDER BY`; none if one of them is an expression, has a collation or an order of its own for `NULL`.
    private static func sortedColumns(_ tokens: ArraySlice<Token>, _ depths: [Int]) -> [SortedColumn] {
        let items = split(tokens, depths).map { item -> SortedColumn? in
            guard let path = name(at: item.startIndex, in: item), let column = path.last else { return nil }
            let rest = item.dropFirst(2 * path.count - 1)
            guard rest.count <= 1 else { return nil }
            if rest.first?.isKeyword("DESC") == true { return SortedColumn(name: column, isDescending: true) }
            guard rest.isEmpty || rest.first?.isKeyword("ASC") == true else { return nil }
            return SortedColumn(name: column, isDescending: false)
        }
        return items.contains(nil) ? [] : items.compactMap { $0 }
    }

    private static func comparedColumn(_ condition: ArraySlice<Token>) -> String? {
        for position in condition.indices {
            guard let path = name(at: position, in: condition) else { continue }
            let next = condition.dropFirst(position - condition.startIndex + 2 * path.count - 1)
            if next.first?.text == "=", next.dropFirst().first?.text == "?" { return path.last }
            // "? = author.id"
            if position >= condition.startIndex + 2, condition[position - 1].text == "=",
                condition[position - 2].text == "?"
            {
                return path.last
            }
        }
        return nil
    }

    /// The words before which a parenthesis opens no list of arguments.
    private static let keywords: Set<String> = [
        "WHERE", "IN", "AND", "OR", "NOT", "ON", "FROM", "JOIN", "VALUES", "LIKE", "EXISTS", "AS", "BY", "USING",
        "OVER",
    ]

    private static func joined(_ words: [String]) -> String {
        var text = ""
        for (index, word) in words.enumerated() {
            // A parenthesis belongs to the name of the function before it.
            if word == "(", index > 0, !keywords.contains(words[index - 1].uppercased()),
                words[index - 1].last?.isLetter == true
            {
                text += word
                continue
            }
            let isClose =
                text.isEmpty || text.hasSuffix("(") || text.hasSuffix(".") || [")", ",", ".", ";"].contains(word)
            text += (isClose ? "" : " ") + word
        }
        return text
    }
}
