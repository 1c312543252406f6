/// The parts of a statement that advice names, if it reads, updates or deletes rows.
///
/// The text has no literals: parameters and values are question marks, and lists of them end with an ellipsis. Names can
/// be quoted.
package struct StatementText: Sendable, Hashable {
    /// The first table, or `nil` if the statement selects from none or from a subquery.
    package private(set) var table: String?
    /// The selected columns without their tables; empty for `*` and for expressions.
    package private(set) var columns: [String] = []
    /// The first column that `WHERE` compares with one value for equality.
    package private(set) var comparedColumn: String?
    /// Whether that comparison is the whole condition, and neither an order, a limit nor a group follows.
    package private(set) var comparesOnlyThat = false
    /// Whether the statement aggregates rows, so that its result does not show how many matched.
    package private(set) var isAggregated = false
    /// Whether the selection depends on other rows than those of the condition: it is distinct, or has windows.
    package private(set) var hasDistinctOrWindows = false
    /// Whether the statement has groups.
    package private(set) var isGrouped = false
    /// The first column that `WHERE` compares with a pattern, and the operator; `nil` if it belongs to another table.
    package private(set) var search: Search?
    /// Whether the statement has a condition.
    package private(set) var hasCondition = false
    /// Whether the statement skips rows, as for a page.
    package private(set) var isPaged = false
    /// Whether the number of rows is limited.
    package private(set) var isLimited = false
    /// Whether the statement selects all rows of its table, in no order.
    package private(set) var isWholeTable = false
    /// The columns of its one table that the statement sorts all rows by, or none if it sorts otherwise.
    package private(set) var order: [SortedColumn] = []
    /// The columns that the statement sorts rows by, also of several tables, or none if it sorts otherwise.
    package private(set) var sortKeys: [SortedColumn] = []
    /// The selected expressions with their quotes and tables.
    package private(set) var selectionSQL = ""
    /// The selected expressions, as the statement has them.
    package private(set) var selection = ""
    /// The tables of the statement, and the columns that it compares.
    package let conditions: StatementSlots
    /// Whether the statement has parameters or values.
    package let hasValues: Bool
    /// The statement without quotes, with an ellipsis for the selected columns: `"SELECT … FROM author WHERE id = ?"`.
    package let summary: String

    /// A column in `ORDER BY`.
    package struct SortedColumn: Sendable, Hashable {
        package var name: String
        package var isDescending = false

        package init(name: String, isDescending: Bool = false) { (self.name, self.isDescending) = (name, isDescending) }
    }

    /// A comparison with a pattern.
    package struct Search: Sendable, Hashable {
        package var column: String
        /// `LIKE` or `GLOB`.
        package var operation: String
    }

    /// Whether the table is one of SQLite's own, such as `sqlite_master`, which libraries read for themselves.
    package var isOfSQLite: Bool { table?.lowercased().hasPrefix("sqlite_") == true }

    package init(_ sql: String) {
        hasValues = sql.contains("?") || sql.contains("…")
        let tokens = Self.tokens(of: sql)
        conditions = StatementSlots(tokens)
        let depths = Self.depths(of: tokens)
        let keyword = { (word: String, start: Int) in
            tokens.indices.dropFirst(start).first { depths[$0] == 0 && tokens[$0].isKeyword(word) }
        }
        let limit = keyword("LIMIT", 0)
        isLimited = limit != nil
        // "LIMIT 20, 10" has the offset first.
        isPaged =
            keyword("OFFSET", 0) != nil
            || limit.map { start in tokens.indices.contains { $0 > start && depths[$0] == 0 && tokens[$0].text == "," }
            }
                ?? false
        guard tokens.first?.isKeyword("SELECT") == true, let from = keyword("FROM", 0) else {
            summary = sql
            let isUpdate = tokens.first?.isKeyword("UPDATE") == true,
                isDelete = tokens.first?.isKeyword("DELETE") == true
            guard isUpdate || isDelete, let first = isUpdate ? 0 : keyword("FROM", 0) else { return }
            table = Self.name(at: first + 1, in: tokens[...])?.last
            comparedColumn = conditions.equalities.first?.name
            return
        }
        columns = Self.split(tokens[1..<from], depths).compactMap(Self.column)
        table = from + 1 < tokens.count ? Self.name(at: from + 1, in: tokens[...])?.last : nil
        let only = conditions.names.count == 1 ? table : nil
        if let condition = keyword("WHERE", from) {
            comparedColumn = conditions.equalities.first?.name
            let rest = Self.withoutTable(tokens[(condition + 1)...], only)
            hasCondition = true
            search = conditions.search(in: table)
            let column = comparedColumn ?? ""
            comparesOnlyThat =
                conditions.names.count == 1 && comparedColumn != nil
                && [[column, "=", "?"], ["?", "=", column]].contains(rest)
        }
        isWholeTable = ["WHERE", "ORDER", "LIMIT", "JOIN", "GROUP"].allSatisfy { keyword($0, from) == nil }
        let isPlain = ["WHERE", "JOIN", "GROUP", "UNION", "DISTINCT"].allSatisfy { keyword($0, 0) == nil }
        if let order = keyword("ORDER", from) {
            let end = keyword("LIMIT", order) ?? tokens.endIndex
            sortKeys = Self.sortedColumns(tokens[min(order + 2, end)..<end], depths)
            // A name that the selection gives to an expression is not a column.
            let given = Self.names(givenIn: tokens[1..<from])
            if sortKeys.contains(where: { given.contains($0.name.lowercased()) }) { sortKeys = [] }
            let hasOneTable = !tokens[from..<order].contains { $0.text == "," }
            self.order = isPlain && hasOneTable ? sortKeys : []
        }
        isGrouped = keyword("GROUP", from) != nil
        hasDistinctOrWindows = tokens[1..<from].contains { $0.isKeyword("DISTINCT") || $0.isKeyword("OVER") }
        isAggregated = isGrouped || Self.hasAggregate(tokens[1..<from])
        selectionSQL = from > 1 ? String(sql[tokens[1].range.lowerBound..<tokens[from - 1].range.upperBound]) : ""
        selection = Self.joined(Self.withoutTable(tokens[1..<from], only, quotes: true))
        let isShort = (columns.isEmpty || isAggregated) && selection.count <= Self.shortSelection
        let isColumn = columns.count == 1 && Self.split(tokens[1..<from], depths).count == 1
        let selected = isColumn ? columns[0] : isShort ? selection : "…"
        summary = "SELECT \(selected) " + Self.joined(Self.withoutTable(tokens[from...], only))
    }

    /// The column of each selected item, or `nil` for an expression.
    package var selectedColumns: [String?] {
        let tokens = Self.tokens(of: selectionSQL)
        return Self.split(tokens[...], Self.depths(of: tokens)).map { Self.column($0) }
    }

    /// The text of a statement, or of the query whose rows it counts.
    package init(unwrapping sql: String) { self.init(Self.unwrapped(sql) ?? sql) }

    /// The statement that counts the rows of a query without a subquery, if a mapper has wrapped the query in one:
    /// `SELECT count(*) FROM (SELECT … FROM post WHERE topic_id = ?)`.
    package static func unwrapped(_ sql: String) -> String? {
        let tokens = tokens(of: sql), depths = depths(of: tokens)
        guard tokens.first?.isKeyword("SELECT") == true, tokens.dropFirst().first?.isKeyword("COUNT") == true,
            let from = tokens.firstIndex(where: { $0.isKeyword("FROM") }), from + 2 < tokens.count,
            tokens[from + 1].text == "(", tokens[from + 2].isKeyword("SELECT")
        else { return nil }
        let depth = depths[from + 2]
        let rest = tokens.indices.dropFirst(from + 3)
        guard let inner = rest.first(where: { depths[$0] == depth && tokens[$0].isKeyword("FROM") }),
            let end = rest.first(where: { depths[$0] == depth && tokens[$0].text == ")" })
        else { return nil }
        let text = sql[tokens[inner].range.lowerBound..<tokens[end - 1].range.upperBound]
        // A query with groups, without duplicates or with a limit returns fewer rows than its tables have.
        let isOfRows = !tokens[from..<end].contains { token in
            ["DISTINCT", "GROUP", "UNION", "LIMIT"].contains { token.isKeyword($0) }
        }
        return isOfRows ? "SELECT count(*) \(text)" : nil
    }

    /// The table that a statement writes to, and whether it inserts rows; `nil` if it writes to none, or resolves conflicts.
    package static func written(by sql: String) -> (table: String, isInsertion: Bool)? {
        let tokens = tokens(of: sql)
        let isInsertion = tokens.first?.isKeyword("INSERT") == true
        guard isInsertion || tokens.first?.isKeyword("UPDATE") == true, let table = table(changedBy: tokens),
            !tokens[1].isKeyword("OR"), !tokens.contains(where: { $0.isKeyword("CONFLICT") })
        else { return nil }
        return (table, isInsertion)
    }

    /// The table whose rows a statement changes, or `nil` if that is not known.
    package static func changed(by sql: String) -> String? { table(changedBy: tokens(of: sql)) }

    /// Whether a statement changes rows of a table so that an index has to follow.
    ///
    /// - Parameter columns: The columns or expressions of the index. An `UPDATE` of others leaves it as it is.
    static func changes(_ table: String, by sql: String, in columns: [String]) -> Bool {
        guard changed(by: sql)?.lowercased() == table.lowercased() else { return false }
        guard let updated = self.columns(updatedBy: sql) else { return true }
        return columns.contains { column in
            tokens(of: column).contains { $0.isName && updated.contains($0.text.lowercased()) }
        }
    }

    /// Whether a pattern of `LIKE` or `GLOB` is made of parts that the statement joins.
    package static func composesPattern(_ sql: String) -> Bool {
        let tokens = tokens(of: sql)
        return tokens.indices.dropLast(2).contains { index in
            (tokens[index].isKeyword("LIKE") || tokens[index].isKeyword("GLOB"))
                && tokens[(index + 1)...].prefix(3).contains { $0.text == "||" }
        }
    }

    /// The columns that an `UPDATE` sets, in lowercase, or `nil` if the statement is none.
    package static func columns(updatedBy sql: String) -> Set<String>? {
        let tokens = tokens(of: sql), depths = depths(of: tokens)
        guard tokens.first?.isKeyword("UPDATE") == true, let set = tokens.firstIndex(where: { $0.isKeyword("SET") })
        else { return nil }
        let end = tokens.indices.dropFirst(set).first { index in
            depths[index] == depths[set]
                && ["FROM", "WHERE", "RETURNING"].contains { tokens[index].isKeyword($0) }
        }
        // SET (a, b) = (1, 2) has a list of columns.
        let columns = split(tokens[(set + 1)..<(end ?? tokens.endIndex)], depths).flatMap { item in
            item.prefix { $0.text != "=" }.filter(\.isName).map { $0.text.lowercased() }
        }
        return Set(columns)
    }

    private static func table(changedBy tokens: [Token]) -> String? {
        let place: Int?
        switch tokens.first?.text.uppercased() {
        case "INSERT", "REPLACE": place = tokens.firstIndex { $0.isKeyword("INTO") }
        case "DELETE": place = tokens.firstIndex { $0.isKeyword("FROM") }
        case "UPDATE": place = tokens.count > 2 && tokens[1].isKeyword("OR") ? 2 : 0
        default: place = nil
        }
        return place.flatMap { name(at: $0 + 1, in: tokens[...])?.last }
    }

    /// Functions whose result does not depend on their arguments alone (https://sqlite.org/lang_corefunc.html).
    private static let volatileFunctions: Set<String> = [
        "RANDOM", "RANDOMBLOB", "CHANGES", "TOTAL_CHANGES", "LAST_INSERT_ROWID",
    ]
    /// Functions of dates, which take the time of the run for "now" and for no argument
    /// (https://sqlite.org/lang_datefunc.html).
    private static let dateFunctions: Set<String> = [
        "DATE", "TIME", "DATETIME", "JULIANDAY", "UNIXEPOCH", "STRFTIME", "TIMEDIFF",
    ]
    private static let times: Set<String> = ["CURRENT_DATE", "CURRENT_TIME", "CURRENT_TIMESTAMP"]

    /// Whether equal runs of a statement can return different rows although nothing was written.
    package static func isVolatile(_ sql: String) -> Bool {
        let tokens = tokens(of: sql)
        return tokens.indices.contains { index in
            guard tokens[index].isName else { return false }
            let name = tokens[index].text.uppercased()
            if !tokens[index].isQuoted, times.contains(name) { return true }
            guard index + 1 < tokens.count, tokens[index + 1].text == "(" else { return false }
            // The text does not have the literals, so that any value may be "now".
            let arguments = tokens[(index + 2)...].prefix { $0.text != ")" }
            return volatileFunctions.contains(name)
                || dateFunctions.contains(name) && !arguments.contains(where: \.isName)
        }
    }

    /// The words of a part of the statement, without the only table's name before its columns, which says nothing new.
    ///
    /// - Parameter quotes: Whether names keep the quotes that they need.
    private static func withoutTable(_ tokens: ArraySlice<Token>, _ table: String?, quotes: Bool = false) -> [String] {
        var words: [String] = []
        var rest = tokens
        while let token = rest.popFirst() {
            if token.text == table, rest.first?.text == ".", rest.dropFirst().first?.isName == true {
                rest = rest.dropFirst()
            } else {
                words.append(quotes && token.isQuoted ? quoted(token.text) : token.text)
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

    /// The longest selection that ``summary`` shows, if it is more than columns: `*` and `kind, COUNT(*)`.
    private static let shortSelection = 30

    /// A name in SQL, in quotes if it needs them.
    package static func quoted(_ name: String) -> String {
        name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") } && name.first?.isNumber == false
            && !SQLKeywords.all.contains(name.uppercased())
            ? name : "\"" + name.replacing("\"", with: "\"\"") + "\""
    }

    /// The statement that creates an index on columns of a table.
    package static func index(on table: String, _ columns: [SortedColumn]) -> String {
        // An index is read in both directions, so only a mixture needs them.
        let isMixed = Set(columns.map(\.isDescending)).count > 1
        let list = columns.map { quoted($0.name) + (isMixed && $0.isDescending ? " DESC" : "") }
        let name = ([table] + columns.map(\.name)).joined(separator: "_")
        return "CREATE INDEX \(quoted(name)) ON \(quoted(table))(\(list.joined(separator: ", ")))"
    }
}

/// The words of a statement, and the parts that they make.
extension StatementText {
    package struct Token {
        package var text: String
        package var isName = false
        package var isQuoted = false
        /// Whether it is a literal.
        package var isValue = false
        /// Whether a value is bound to it.
        package var isParameter = false
        /// The place in the statement.
        package var range: Range<String.Index>

        package func isKeyword(_ word: String) -> Bool { isName && !isQuoted && text.uppercased() == word }
    }

    package static func tokens(of sql: String) -> [Token] {
        var tokens: [Token] = []
        var rest = sql[...]
        while let first = rest.first {
            let start = rest.startIndex
            if first.isWhitespace {
                rest = rest.dropFirst()
            } else if rest.hasPrefix("--") {
                rest = rest.drop { $0 != "\n" }
            } else if rest.hasPrefix("/*") {
                rest = rest.firstRange(of: "*/").map { rest[$0.upperBound...] } ?? ""
            } else if first == "'" {
                var end = rest.dropFirst().drop { $0 != "'" }.dropFirst()
                // A doubled quote stands for one in the text.
                while end.first == "'" { end = end.dropFirst().drop { $0 != "'" }.dropFirst() }
                let text = rest[..<end.startIndex]
                tokens.append(Token(text: String(text), isValue: true, range: start..<end.startIndex))
                rest = end
            } else if "?:@$".contains(first) {
                let name = rest.dropFirst().prefix { $0.isLetter || $0.isNumber || $0 == "_" }
                tokens.append(
                    Token(text: String(rest[..<name.endIndex]), isParameter: true, range: start..<name.endIndex))
                rest = rest[name.endIndex...]
            } else if let end = closers[first] {
                var name = rest.dropFirst().prefix { $0 != end }
                rest = rest[name.endIndex...].dropFirst()
                // A doubled quote stands for one in the name.
                while rest.first == end, end != "]" {
                    let more = rest.dropFirst().prefix { $0 != end }
                    name += String(end) + more
                    rest = rest[more.endIndex...].dropFirst()
                }
                tokens.append(
                    Token(text: String(name), isName: true, isQuoted: true, range: start..<rest.startIndex))
            } else if first.isLetter || first == "_" {
                let name = rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "$" }
                tokens.append(Token(text: String(name), isName: true, range: start..<name.endIndex))
                rest = rest[name.endIndex...]
            } else if first.isNumber {
                let number = rest.prefix { $0.isNumber || $0 == "." }
                tokens.append(Token(text: String(number), isValue: true, range: start..<number.endIndex))
                rest = rest[number.endIndex...]
            } else {
                // Signs such as "<=" and "||" are one token.
                let sign = operators.contains(first) ? rest.prefix { operators.contains($0) } : rest.prefix(1)
                tokens.append(Token(text: String(sign), range: start..<sign.endIndex))
                rest = rest[sign.endIndex...]
            }
        }
        return tokens
    }

    private static let operators: Set<Character> = ["<", ">", "=", "!", "|", "-"]
    private static let closers: [Character: Character] = ["\"": "\"", "`": "`", "[": "]"]

    /// How many parentheses are open around each token.
    package static func depths(of tokens: [Token]) -> [Int] {
        var depth = 0
        return tokens.map { token in
            if token.text == "(" { depth += 1 }
            defer { if token.text == ")" { depth -= 1 } }
            return depth
        }
    }

    static func split(_ tokens: ArraySlice<Token>, _ depths: [Int]) -> [ArraySlice<Token>] {
        var parts: [ArraySlice<Token>] = []
        var start = tokens.startIndex
        for index in tokens.indices where depths[index] == 0 && tokens[index].text == "," {
            parts.append(tokens[start..<index])
            start = index + 1
        }
        return parts + [tokens[start...]]
    }

    /// The names of a path such as `main.author.id`, or `nil` if there is none at the position.
    package static func name(at position: Int, in tokens: ArraySlice<Token>) -> [String]? {
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
    static func column(_ item: ArraySlice<Token>) -> String? {
        guard let path = name(at: item.startIndex, in: item) else { return nil }
        let rest = item.dropFirst(2 * path.count - 1)
        return rest.isEmpty || rest.first?.isKeyword("AS") == true ? path.last : nil
    }

    /// The columns of `ORDER BY`; none if one of them is an expression, has a collation or an order of its own for `NULL`.
    static func sortedColumns(_ tokens: ArraySlice<Token>, _ depths: [Int]) -> [SortedColumn] {
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

    /// The names that a selection gives to expressions, and not to columns of the same name.
    static func names(givenIn selection: ArraySlice<Token>) -> Set<String> {
        let given = selection.indices.dropFirst().filter { index in
            guard selection[index - 1].isKeyword("AS"), selection[index].isName else { return false }
            return index < selection.startIndex + 2 || selection[index - 2].text != selection[index].text
        }
        return Set(given.map { selection[$0].text.lowercased() })
    }

    /// The words before which a parenthesis opens no list of arguments.
    private static let keywords: Set<String> = [
        "WHERE", "IN", "AND", "OR", "NOT", "ON", "FROM", "JOIN", "VALUES", "LIKE", "EXISTS", "AS", "BY", "USING",
        "OVER",
    ]

    static func joined(_ words: [String]) -> String {
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

/// The words that SQL reserves, which names need quotes for (https://www.sqlite.org/lang_keywords.html).
package enum SQLKeywords {
    package static let all = Set(
        """
        ABORT ACTION ADD AFTER ALL ALTER ALWAYS ANALYZE AND AS ASC ATTACH AUTOINCREMENT BEFORE BEGIN BETWEEN BY CASCADE \
        CASE CAST CHECK COLLATE COLUMN COMMIT CONFLICT CONSTRAINT CREATE CROSS CURRENT CURRENT_DATE CURRENT_TIME \
        CURRENT_TIMESTAMP DATABASE DEFAULT DEFERRABLE DEFERRED DELETE DESC DETACH DISTINCT DO DROP EACH ELSE END ESCAPE \
        EXCEPT EXCLUDE EXCLUSIVE EXISTS EXPLAIN FAIL FILTER FIRST FOLLOWING FOR FOREIGN FROM FULL GENERATED GLOB GROUP \
        GROUPS HAVING IF IGNORE IMMEDIATE IN INDEX INDEXED INITIALLY INNER INSERT INSTEAD INTERSECT INTO IS ISNULL JOIN \
        KEY LAST LEFT LIKE LIMIT MATCH MATERIALIZED NATURAL NO NOT NOTHING NOTNULL NULL NULLS OF OFFSET ON OR ORDER \
        OTHERS OUTER OVER PARTITION PLAN PRAGMA PRECEDING PRIMARY QUERY RAISE RANGE RECURSIVE REFERENCES REGEXP REINDEX \
        RELEASE RENAME REPLACE RESTRICT RETURNING RIGHT ROLLBACK ROW ROWS SAVEPOINT SELECT SET TABLE TEMP TEMPORARY THEN \
        TIES TO TRANSACTION TRIGGER UNBOUNDED UNION UNIQUE UPDATE USING VACUUM VALUES VIEW VIRTUAL WHEN WHERE WINDOW \
        WITH WITHOUT
        """.split(separator: " ").map(String.init))
}

/// A statement that begins or ends a transaction, or a part of one.
package enum TransactionStatement {
    case begin, commit, rollback
    /// The savepoint's name, in capitals.
    case savepoint(Substring), release(Substring), rollbackTo(Substring)

    package init?(_ sql: String) {
        let words = sql.uppercased().split { $0.isWhitespace || ";\"`[]".contains($0) }
        let name = words.last ?? ""
        switch words.first {
        case "BEGIN": self = .begin
        case "COMMIT", "END": self = .commit
        case "SAVEPOINT": self = .savepoint(name)
        case "RELEASE": self = .release(name)
        case "ROLLBACK": self = words.contains("TO") ? .rollbackTo(name) : .rollback
        default: return nil
        }
    }
}
