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

    /// - Parameter paths: The paths of copies of the schema's databases, to which nobody writes while tables are sampled.
    init(_ schema: AdvisedSchema, of paths: [String]) throws(ReplayError) {
        self.schema = schema
        file = try DatabaseFile(inMemory: "the sample")
        csqlite_explain_triggers(file.connection)
        for (database, path) in zip(schema.databases, paths) {
            if database != "main" { try file.attach(":memory:", as: database) }
            try file.attach(path, as: Self.whole(database))
            let created = try file.rows(
                """
                SELECT type, sql FROM \(DatabaseFile.qualified("sqlite_schema", in: Self.whole(database))) WHERE sql IS NOT NULL
                AND type IN ('table', 'index', 'view', 'trigger') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY rowid
                """)
            for row in created {
                let creation = AdvisedSchema.qualifying(row[1].text, in: database)
                if row[0].text == "trigger" {
                    triggers.append(creation)
                } else {
                    // Tables that SQLite cannot create here, such as those of a module, are missing from the plans.
                    try? file.run(creation)
                }
            }
        }
    }

    /// The name of the copy of a database.
    private static func whole(_ database: String) -> String { "whole of " + database }

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
        let table = schema.tables[number], name = table.qualifiedName
        let whole = DatabaseFile.qualified(table.name, in: Self.whole(table.database))
        let count = try file.number("SELECT count(*) FROM \(whole)")
        rows[number] = count
        let columns = table.columns.filter { !$0.isComputed }.map { DatabaseFile.quoted($0.name) }
        let list = columns.joined(separator: ", ")
        let insertion = "INSERT OR IGNORE INTO \(name)(\(list)) SELECT \(list) FROM \(whole)"
        if count > Self.size, table.hasRowID {
            // Rows at pseudorandom places, the same ones each time: rows at equal distances can be alike. The numbers are
            // those of the generator "minstd_rand".
            try? file.run(
                """
                \(insertion) WHERE rowid IN (
                    WITH RECURSIVE bounds(low, span) AS (SELECT min(rowid), max(rowid) - min(rowid) + 1.0 FROM \(whole)),
                    numbers(step, x) AS (
                        SELECT 1, 12345 UNION ALL SELECT step + 1, x * 48271 % 2147483647 FROM numbers WHERE step < \(Self.size))
                    SELECT low + CAST(x / 2147483647.0 * span AS INTEGER) FROM numbers, bounds)
                """)
        }
        guard try file.number("SELECT count(*) FROM \(name)") < min(count, Self.size / 5) else { return }
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
        for database in schema.databases {
            try file.run("ANALYZE \(DatabaseFile.quoted(database))")
            try scaleStatistics(of: database)
        }
        let analyzed = try used()
        for database in schema.databases {
            try file.run("DELETE FROM \(DatabaseFile.qualified("sqlite_stat1", in: database))")
            try file.reloadStatistics(of: database)
        }
        return (analyzed, try used())
    }

    /// Makes the statistics those of tables with all rows.
    ///
    /// See https://www.sqlite.org/fileformat2.html#the_sqlite_stat1_table.
    private func scaleStatistics(of database: String) throws(ReplayError) {
        let statistics = DatabaseFile.qualified("sqlite_stat1", in: database)
        for row in try file.rows("SELECT rowid, tbl, stat FROM \(statistics)") {
            guard let number = schema.table(row[1].text, in: database), let all = rows[number], all > Self.size else {
                continue
            }
            let numbers = row[2].text.split(separator: " ")
            guard let sampled = numbers.first.flatMap({ Double($0) }), sampled > 0 else { continue }
            let scaled = numbers.enumerated().map { position, word -> String in
                if position == 0 { return String(all) }
                guard let each = Double(word), each > 0 else { return String(word) }
                let distinct = Self.distinctValues(sampled / each, in: sampled, of: Double(all))
                return String(UInt64(max(1, (Double(all) / distinct).rounded())))
            }
            try file.run(
                "UPDATE \(statistics) SET stat = \(DatabaseFile.literal(scaled.joined(separator: " "))) WHERE rowid = \(row[0].number)"
            )
        }
        try file.reloadStatistics(of: database)
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
