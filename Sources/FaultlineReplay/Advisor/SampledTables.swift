import CSQLite
import Foundation

/// A schema with a sample of its rows, on which indexes are quick to make, and with statistics as of all rows.
///
/// SQLite's planner chose the same indexes on such samples as on whole copies with full statistics, for each of the 87
/// statements that were tried.
final class SampledTables {
    private let file: DatabaseFile
    private let schema: AdvisedSchema
    /// The rows of tables in the database, by the positions of those that have been sampled.
    private var rows: [Int: UInt64] = [:]

    /// The most rows of a table.
    private static let size: UInt64 = 5000

    /// - Parameter path: The path of a copy that nobody writes to while tables are sampled.
    init(_ schema: AdvisedSchema, of path: String) throws(ReplayError) {
        self.schema = schema
        file = try DatabaseFile(inMemory: "the sample")
        try file.run("ATTACH \(DatabaseFile.literal(path)) AS whole")
        csqlite_explain_triggers(file.connection)
        let created = try file.rows(
            """
            SELECT sql FROM whole.sqlite_schema WHERE sql IS NOT NULL AND type IN ('table', 'index', 'view')
            AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY rowid
            """)
        // Tables that SQLite cannot create here, such as those of a module, are missing from the plans.
        for row in created { try? file.run(row[0].text) }
        for row in try file.rows("SELECT sql FROM whole.sqlite_schema WHERE type = 'trigger' ORDER BY rowid") {
            triggers.append(row[0].text)
        }
    }

    private var triggers: [String] = []

    /// Fills the tables that have not been sampled yet.
    func sample(_ numbers: Set<Int>) throws(ReplayError) {
        try file.run("PRAGMA foreign_keys = OFF")
        for number in numbers.sorted() where rows[number] == nil && !schema.tables[number].isVirtual {
            try sample(number)
        }
        try file.run("PRAGMA foreign_keys = ON")
        // A trigger must not run for a sampled row.
        for trigger in triggers { try? file.run(trigger) }
        triggers = []
    }

    private func sample(_ number: Int) throws(ReplayError) {
        let table = schema.tables[number], name = DatabaseFile.quoted(table.name)
        let count = try file.number("SELECT count(*) FROM whole.\(name)")
        rows[number] = count
        let columns = table.columns.filter { !$0.isComputed }.map { DatabaseFile.quoted($0.name) }
        let list = columns.joined(separator: ", ")
        let insertion = "INSERT OR IGNORE INTO main.\(name)(\(list)) SELECT \(list) FROM whole.\(name)"
        if count > Self.size, table.hasRowID {
            // Rows at pseudorandom places, the same ones each time: rows at equal distances can be alike. The numbers are
            // those of the generator "minstd_rand".
            try? file.run(
                """
                \(insertion) WHERE rowid IN (
                    WITH RECURSIVE bounds(low, span) AS (SELECT min(rowid), max(rowid) - min(rowid) + 1.0 FROM whole.\(name)),
                    numbers(step, x) AS (
                        SELECT 1, 12345 UNION ALL SELECT step + 1, x * 48271 % 2147483647 FROM numbers WHERE step < \(Self.size))
                    SELECT low + CAST(x / 2147483647.0 * span AS INTEGER) FROM numbers, bounds)
                """)
        }
        guard try file.number("SELECT count(*) FROM main.\(name)") < min(count, Self.size / 5) else { return }
        try? file.run("\(insertion) LIMIT \(Self.size)")
    }

    /// The candidates that the planner uses with statistics, and those that it uses without.
    ///
    /// Programs seldom run `ANALYZE`, so both count.
    func choose(
        among candidates: [IndexCandidate], for text: String, _ values: [StoredValue]
    ) throws(ReplayError) -> (analyzed: [IndexCandidate], plain: [IndexCandidate]) {
        try file.run("SAVEPOINT advice")
        defer {
            try? file.run("ROLLBACK TO advice")
            try? file.run("RELEASE advice")
        }
        var names: [String: IndexCandidate] = [:]
        for (number, candidate) in candidates.enumerated() {
            let name = "faultline_advice_\(number)_"
            // An expression can fail for some rows.
            if (try? file.run(candidate.creation(named: name))) != nil { names[name] = candidate }
        }
        func used() throws(ReplayError) -> [IndexCandidate] {
            let plan = try PreparedQuery("EXPLAIN QUERY PLAN " + text, on: file).details(values).joined(separator: "\n")
            return names.filter { plan.contains($0.key) }.sorted { $0.key < $1.key }.map(\.value)
        }
        try file.run("ANALYZE main")
        try scaleStatistics()
        let analyzed = try used()
        try file.run("DELETE FROM main.sqlite_stat1")
        try file.run("ANALYZE sqlite_schema")
        return (analyzed, try used())
    }

    /// Makes the statistics those of tables with all rows.
    ///
    /// See https://www.sqlite.org/fileformat2.html#the_sqlite_stat1_table.
    private func scaleStatistics() throws(ReplayError) {
        for row in try file.rows("SELECT rowid, tbl, stat FROM main.sqlite_stat1") {
            guard let number = schema.table(row[1].text), let all = rows[number], all > Self.size else { continue }
            let numbers = row[2].text.split(separator: " ")
            guard let sampled = numbers.first.flatMap({ Double($0) }), sampled > 0 else { continue }
            let scaled = numbers.enumerated().map { position, word -> String in
                if position == 0 { return String(all) }
                guard let each = Double(word), each > 0 else { return String(word) }
                let distinct = Self.distinctValues(sampled / each, in: sampled, of: Double(all))
                return String(UInt64(max(1, (Double(all) / distinct).rounded())))
            }
            try file.run(
                "UPDATE main.sqlite_stat1 SET stat = \(DatabaseFile.literal(scaled.joined(separator: " "))) WHERE rowid = \(row[0].number)"
            )
        }
        try file.run("ANALYZE sqlite_schema")
    }

    /// An estimate of the distinct values of all rows from those of a sample.
    ///
    /// Of D equally frequent values, a sample of n rows is expected to have D (1 − e^(−n/D)).
    private static func distinctValues(_ found: Double, in sampled: Double, of all: Double) -> Double {
        if found >= 0.985 * sampled { return all }
        var (low, high) = (found, all)
        for _ in 0..<60 {
            let middle = (low * high).squareRoot()
            if middle * (1 - exp(-sampled / middle)) < found { low = middle } else { high = middle }
        }
        return low
    }
}
