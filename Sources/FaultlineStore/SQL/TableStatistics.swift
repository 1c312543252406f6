import CSQLite
import FaultlineTrace

/// What SQLite chooses its plans by: the indexes that there are, and what ANALYZE has written of them
/// (https://www.sqlite.org/fileformat2.html#stat1tab).
struct TableStatistics {
    let connection: SQLConnection

    /// How many rows SQLite expects one run of a plan's step to go to.
    ///
    /// - Parameters:
    ///   - step: A line of `EXPLAIN QUERY PLAN`.
    ///   - sql: The statement, which says what tables its aliases stand for.
    /// - Returns: `nil` if ANALYZE has never looked at the table, or the step compares with more than equality.
    func expectedRows(of step: String, in sql: String) -> Int? {
        if let name = Self.scanned(step, in: sql) {
            // An index of some rows only tells of fewer.
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

    /// The indexes of the table that a plan's step goes through, each as its columns with commas between.
    ///
    /// - Returns: `nil` if it goes through none.
    func indexes(of step: String, in sql: String) -> [String]? {
        guard let name = Self.scanned(step, in: sql) else { return nil }
        let columns = "SELECT group_concat(name, ',') FROM pragma_index_info(list.name)"
        return texts("SELECT (\(columns)) FROM pragma_index_list(?1) list WHERE list.partial = 0 ORDER BY 1", name)
    }

    /// The table that a step goes through row by row.
    private static func scanned(_ step: String, in sql: String) -> String? {
        let words = step.split(separator: " ")
        guard words.count > 1, words[0] == "SCAN" else { return nil }
        return StatementEntry(sql: sql).table(of: words[1]) ?? String(words[1])
    }

    /// The index that a step names: `… USING COVERING INDEX ZITEM_ZLOCATION_INDEX (…)`.
    private static func index(_ words: [Substring]) -> Substring? {
        guard !words.contains("AUTOMATIC"), let place = words.firstIndex(of: "INDEX"), place + 1 < words.count else {
            return nil
        }
        return words[place + 1]
    }

    /// How many columns are compared for equality, if no other comparison stands among them.
    private static func equalities(_ comparisons: Substring) -> Int? {
        let terms = comparisons.drop { $0 == "(" }.prefix { $0 != ")" }.split(separator: " ").filter { $0 != "AND" }
        return !terms.isEmpty && terms.allSatisfy { $0.hasSuffix("=?") && !$0.hasSuffix(">=?") && !$0.hasSuffix("<=?") }
            ? terms.count : nil
    }

    /// The numbers of a row: those of the whole table, and of each beginning of an index's columns.
    private func numbers(_ sql: String, _ name: some StringProtocol) -> [Int]? {
        texts(sql, name)?.first?.split(separator: " ").prefix { Int($0) != nil }.compactMap { Int($0) }
    }

    /// The texts of a statement's first column, for a name; `nil`: it cannot be asked, as without any statistics.
    private func texts(_ sql: String, _ name: some StringProtocol) -> [String]? {
        // Whoever counts statements with a hook of SQLite's can tell it from the program's.
        guard let statement = try? connection.prepare("/* faultline */ " + sql) else { return nil }
        statement.bind(.text(String(name)), at: 1)
        var texts: [String] = []
        while sqlite3_step(statement.handle) == SQLITE_ROW {
            if let text = sqlite3_column_text(statement.handle, 0) { texts.append(String(cString: text)) }
        }
        return texts
    }
}
