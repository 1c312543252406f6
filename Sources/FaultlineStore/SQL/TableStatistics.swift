import CSQLite
import FaultlineTrace

/// What ANALYZE has written of tables and indexes, by which SQLite chooses its plans
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
        let words = step.split(separator: " ")
        guard words.count > 1 else { return nil }
        switch words[0] {
        case "SCAN":
            let name = StatementEntry(sql: sql).table(of: words[1]) ?? String(words[1])
            // An index of some rows only tells of fewer.
            return numbers("SELECT max(CAST(stat AS INTEGER)) FROM sqlite_stat1 WHERE tbl = ?1 COLLATE NOCASE", name)?
                .first
        case "SEARCH":
            guard let index = Self.index(words), let open = step.firstIndex(of: "("),
                let columns = Self.equalities(step[open...]),
                let numbers = numbers("SELECT stat FROM sqlite_stat1 WHERE idx = ?1 COLLATE NOCASE", index),
                numbers.indices.contains(columns)
            else { return nil }
            return numbers[columns]
        default: return nil
        }
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
        // Without statistics there is no such table.
        guard let statement = try? connection.prepare(sql) else { return nil }
        statement.bind(.text(String(name)), at: 1)
        guard sqlite3_step(statement.handle) == SQLITE_ROW, let text = sqlite3_column_text(statement.handle, 0) else {
            return nil
        }
        return String(cString: text).split(separator: " ").prefix { Int($0) != nil }.compactMap { Int($0) }
    }
}
