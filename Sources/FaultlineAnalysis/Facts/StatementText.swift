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
    /// Whether the selection depends on other rows than those of the condition: it is distinct, or has windows.
    private(set) var hasDistinctOrWindows = false
    /// Whether the statement has groups.
    private(set) var isGrouped = false
    /// The first column that `WHERE` compares with a pattern, and the operator; `nil` if it belongs to another table.
    private(set) var search: Search?
    /// Whether the statement has a condition.
    private(set) var hasCondition = false
    /// Whether the statement skips rows, as for a page.
    private(set) var isPaged = false
    /// Whether the number of rows is limited.
    private(set) var isLimited = false
    /// Whether the statement selects all rows of its table, in no order.
    private(set) var isWholeTable = false
    /// The columns of its one table that the statement sorts all rows by, or none if it sorts otherwise.
    private(set) var order: [SortedColumn] = []
    /// The columns that the statement sorts rows by, also of several tables, or none if it sorts otherwise.
    private(set) var sortKeys: [SortedColumn] = []
    /// The selected expressions with their quotes and tables.
    private(set) var selectionSQL = ""
    /// The selected expressions, as the statement has them.
    private(set) var selection = ""
    /// The tables of the statement, and the columns that it compares.
    let conditions: StatementSlots
    /// Whether the statement has parameters or values.
    let hasValues: Bool
    /// The statement without quotes, with an ellipsis for the selected columns: `"SELECT … FROM author WHERE id = ?"`.
    let summary: String

    /// A column in `ORDER BY`.
    struct SortedColumn: Sendable, Hashable {
        var name: String
        var isDescending = false
    }

    /// A comparison with a pattern.
    struct Search: Sendable, Hashable {
        var column: String
        /// `LIKE` or `GLOB`.
        var operation: String
    }

    /// Whether the table is one of SQLite's own, such as `sqlite_master`, which libraries read for themselves.
    var isOfSQLite: Bool { table?.lowercased().hasPrefix("sqlite_") == true }

    init(_ sql: String) {
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
            // A name that the selection gives to an expression is no column.
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
        let isShort = columns.isEmpty && selection.count <= Self.shortSelection
        let selected = columns.count == 1 ? columns[0] : isShort ? selection : "…"
        summary = "SELECT \(selected) " + Self.joined(Self.withoutTable(tokens[from...], only))
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

    /// The longest selection without columns that ``summary`` shows: `*` and `COUNT(*)`.
    private static let shortSelection = 30

    /// A name in SQL, in quotes if it needs them.
    static func quoted(_ name: String) -> String {
        name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") } && name.first?.isNumber == false
            && !SQLKeywords.all.contains(name.uppercased())
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
}
