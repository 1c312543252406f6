import CSQLite
import FaultlineTrace

/// The basis of SQLite's plans: the existing indexes and the statistics of ANALYZE.
///
/// See https://www.sqlite.org/fileformat2.html#stat1tab.
struct TableStatistics {
    let connection: SQLConnection

    /// Describes a step of a plan with SQLite's knowledge about its table.
    ///
    /// - Parameters:
    ///   - sql: The statement, which resolves table aliases.
    ///   - told: The tables whose indexes the trace contains. Scanned tables are described every time, because a
    ///     missing index depends on the indexes that existed at the time.
    func describe(
        _ step: (id: Int, parent: Int, detail: String), of sql: String, recorded: inout Set<String>
    ) -> PlanEntry.Row {
        var row = PlanEntry.Row(id: step.id, parent: step.parent, detail: step.detail)
        row.expectedRows = expectedRows(of: step.detail, in: sql)
        row.table = Self.table(of: step.detail, in: sql, verbs: ["SCAN", "SEARCH"])
        guard let table = row.table, recorded.insert(table).inserted || step.detail.hasPrefix("SCAN") else {
            return row
        }
        guard let indexes = indexes(of: table) else { return row }
        row.indexes = indexes.map(\.columns)
        let unique = indexes.filter(\.isUnique).map(\.columns)
        if !unique.isEmpty { row.uniqueIndexes = unique }
        return row
    }

    /// The number of rows that SQLite expects a step of a plan to visit per run.
    ///
    /// - Parameters:
    ///   - step: A line of `EXPLAIN QUERY PLAN`.
    ///   - sql: The statement, which resolves table aliases.
    /// - Returns: `nil` if the table was never analyzed, or if the step uses comparisons other than equality.
    private func expectedRows(of step: String, in sql: String) -> Int? {
        if let name = Self.table(of: step, in: sql, verbs: ["SCAN"]) {
            // A partial index only counts its own rows, which are fewer.
            let most = "SELECT max(CAST(stat AS INTEGER)) FROM sqlite_stat1 WHERE tbl = ?1 COLLATE NOCASE"
            return numbers(most, name)?.first
        }
        guard step.hasPrefix("SEARCH "), let index = Self.index(step.split(separator: " ")),
            let open = step.firstIndex(of: "("), let columns = Self.equalities(step[open...]),
            let numbers = numbers("SELECT stat FROM sqlite_stat1 WHERE idx = ?1 COLLATE NOCASE", index),
            numbers.indices.contains(columns)
        else { return nil }
        return numbers[columns]
    }

    /// The indexes of a table that contain all its rows and only plain columns, as comma-separated columns.
    private func indexes(of table: String) -> [(columns: String, isUnique: Bool)]? {
        // Expressions have no name. SQLite lists the columns in index order.
        let column =
            "name || CASE coll WHEN 'BINARY' THEN '' ELSE ' COLLATE ' || coll END || CASE \"desc\" WHEN 1 THEN ' DESC' "
            + "ELSE '' END"
        let columns =
            "SELECT CASE count(*) WHEN count(name) THEN list.\"unique\" || group_concat(\(column), ',') END "
            + "FROM pragma_index_xinfo(list.name) WHERE key = 1"
        let indexes = "SELECT (\(columns)) FROM pragma_index_list(?1) list WHERE list.partial = 0"
        return texts(indexes, table)?.map { (String($0.dropFirst()), $0.hasPrefix("1")) }.sorted { $0.0 < $1.0 }
    }

    /// The table that a step scans or searches.
    private static func table(of step: String, in sql: String, verbs: Set<Substring>) -> String? {
        let words = step.split(separator: " ")
        guard words.count > 1, verbs.contains(words[0]), !words[1].hasPrefix("(") else { return nil }
        return StatementEntry(sql: sql).table(of: words[1]) ?? String(words[1])
    }

    /// The index that a step names: `… USING COVERING INDEX ZITEM_ZLOCATION_INDEX (…)`.
    private static func index(_ words: [Substring]) -> Substring? {
        guard !words.contains("AUTOMATIC"), let position = words.firstIndex(of: "INDEX"), position + 1 < words.count
        else {
            return nil
        }
        return words[position + 1]
    }

    /// The number of columns compared for equality; `nil` if there are other comparisons.
    private static func equalities(_ comparisons: Substring) -> Int? {
        let terms = comparisons.drop { $0 == "(" }.prefix { $0 != ")" }.split(separator: " ").filter { $0 != "AND" }
        return !terms.isEmpty && terms.allSatisfy { $0.hasSuffix("=?") && !$0.hasSuffix(">=?") && !$0.hasSuffix("<=?") }
            ? terms.count : nil
    }

    /// The numbers in a statistics row: for the whole table, and for each prefix of the index's columns.
    private func numbers(_ sql: String, _ name: some StringProtocol) -> [Int]? {
        texts(sql, name)?.first?.split(separator: " ").prefix { Int($0) != nil }.compactMap { Int($0) }
    }

    /// The strings in a statement's first column, for a name; `nil` if it cannot run, for example without statistics.
    private func texts(_ sql: String, _ name: some StringProtocol) -> [String]? {
        // The comment lets SQLite hooks distinguish it from the program's statements.
        guard let statement = try? connection.prepare("/* faultline */ " + sql) else { return nil }
        statement.bind(.text(String(name)), at: 1)
        var texts: [String] = []
        while sqlite3_step(statement.handle) == SQLITE_ROW {
            if let text = sqlite3_column_text(statement.handle, 0) { texts.append(String(cString: text)) }
        }
        return texts
    }
}
