internal import FaultlineFindings
import FaultlineProfile
internal import FaultlineTrace
import Foundation

/// The temporary tables of a program, made again in the main database of a copy, with rows like those that they had.
///
/// Their rows are those that the program's own statements insert, or else values of the columns that they are compared with.
struct RemadeTables {
    /// The names of the tables, in lowercase.
    private(set) var names: Set<String> = []
    private let file: DatabaseFile

    /// The most rows of a table.
    private static let most: UInt64 = 100_000
    /// The longest time of one statement, in nanoseconds.
    private static let patience: UInt64 = 1_000_000_000

    /// A table that cannot be made is left out.
    init(_ tables: [TemporaryTable], on file: DatabaseFile) {
        self.file = file
        for table in tables {
            // A table of the database that has the same name is not the one that statements name.
            guard (try? file.hasTable(table.name)) == false, let first = table.creation.first,
                (try? run(first, rows: table.rows)) != nil
            else { continue }
            names.insert(table.name.lowercased())
            fill(table)
            for index in table.creation.dropFirst() { try? file.run(index) }
        }
    }

    private func fill(_ table: TemporaryTable) {
        let name = DatabaseFile.quoted(table.name), wanted = min(table.rows, Self.most)
        guard wanted > 0 else { return }
        let texts = table.insertions.filter { StatementText.tokens(of: $0).contains { $0.isKeyword("SELECT") } }
        let attempts: [() throws -> Void] = [
            { for text in texts { try run(text, rows: wanted) } },
            { for text in texts { try run(Self.withoutCondition(text) + " LIMIT \(wanted)", rows: wanted) } },
            { try insertValues(of: table, wanted) },
        ]
        for attempt in attempts {
            try? file.run("DELETE FROM \(name)")
            try? attempt()
            let rows = (try? file.number("SELECT count(*) FROM \(name)")) ?? 0
            if rows >= wanted / 2, rows <= wanted &* 2 { return }
        }
    }

    /// Runs a statement with values from the copy.
    private func run(_ sql: String, rows: UInt64) throws {
        try file.limitingQueries(to: Self.patience) {
            guard sql.contains("?") || sql.contains("…") else { return try file.run(sql) }
            let drawn = try DrawnStatement(sql, runs: 1, rows: rows, guessing: true, on: file)
            try PreparedQuery(drawn.text, on: file).run(drawn.values)
        }
    }

    /// The statement up to its `WHERE`.
    private static func withoutCondition(_ sql: String) -> String {
        let tokens = StatementText.tokens(of: sql), depths = StatementText.depths(of: tokens)
        let end = tokens.indices.first { index in
            depths[index] == 0 && ["WHERE", "ORDER", "LIMIT"].contains { tokens[index].isKeyword($0) }
        }
        return end.map { String(sql[..<tokens[$0].range.lowerBound]) } ?? sql
    }

    /// Inserts values of the columns that the table's own are compared with, or that have the same names, and numbers for the
    /// others.
    private func insertValues(of table: TemporaryTable, _ rows: UInt64) throws {
        let columns = try file.rows("SELECT name FROM pragma_table_info(\(DatabaseFile.literal(table.name)))").map {
            $0[0].text
        }
        let partner = table.partners.ordered(on: \.key).compactMap(\.value.table).first
        for other in ([partner].compactMap { $0 } + table.companions).uniqued {
            let others = Set(
                try file.rows("SELECT lower(name) FROM pragma_table_xinfo(\(DatabaseFile.literal(other)))").map {
                    $0[0].text
                })
            let sources = columns.map { column -> String? in
                if let compared = table.partners[column.lowercased()], compared.table == other {
                    return DatabaseFile.quoted(compared.name)
                }
                return others.contains(column.lowercased()) ? DatabaseFile.quoted(column) : nil
            }
            guard sources.contains(where: { $0 != nil }) else { continue }
            let values = sources.map { $0 ?? "row_number() OVER ()" }.joined(separator: ", ")
            return try insert(table, columns, "SELECT \(values) FROM \(DatabaseFile.quoted(other)) LIMIT \(rows)")
        }
        let numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(rows))"
        try insert(
            table, columns, "\(numbers) SELECT \(columns.map { _ in "i" }.joined(separator: ", ")) FROM n")
    }

    private func insert(_ table: TemporaryTable, _ columns: [String], _ rows: String) throws {
        let list = columns.map(DatabaseFile.quoted).joined(separator: ", ")
        try file.run("INSERT OR IGNORE INTO \(DatabaseFile.quoted(table.name))(\(list)) \(rows)")
    }
}
