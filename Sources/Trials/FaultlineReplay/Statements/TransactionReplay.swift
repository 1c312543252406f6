import FaultlineFindings
import FaultlineProfile

/// Small transactions, and one for all their rows, on a copy that waits for the disk as SQLite does by default.
///
/// Existing rows are changed, because the recorded writes may not be possible again.
struct TransactionReplay {
    private(set) var pair: StatementPair

    /// The most transactions to replay.
    private static let most: UInt64 = 50

    /// - Parameter path: The database's own path, without links (``StorePath``).
    init(_ change: StatementChange, _ transactions: UInt64, of path: String, named name: String) throws {
        // A copy that keeps the database's journal mode.
        let folder = try ScratchFolder()
        guard let table = StatementSlots(change.sql).tables.first else {
            throw Untriable("The statement's table is unknown.")
        }
        let file = try DatabaseFile(writing: folder.copyStore(path), named: name)
        let count = max(2, min(transactions, Self.most))
        let quoted = DatabaseFile.quoted(table), info = "pragma_table_info(\(DatabaseFile.literal(table)))"
        let columns = try file.rows("SELECT name FROM \(info) WHERE pk = 0 ORDER BY cid LIMIT 1")
        guard let column = columns.first.map({ DatabaseFile.quoted($0[0].text) }) else {
            throw Untriable("The store has no table \(table) with a column to write.")
        }
        // Tables without row IDs are known by their keys.
        let hasRowID = (try? file.rows("SELECT rowid FROM \(quoted) LIMIT 1")) != nil
        let key =
            try hasRowID
            ? ["rowid"]
            : file.rows("SELECT name FROM \(info) WHERE pk > 0 ORDER BY pk").map { DatabaseFile.quoted($0[0].text) }
        let list = key.joined(separator: ", "), parameters = key.map { _ in "?" }.joined(separator: ", ")
        let rows = try file.values("SELECT \(list) FROM \(quoted) LIMIT \(count)")
        guard !rows.isEmpty else { throw Untriable("The store has no rows in \(table) to write.") }
        // SQLite does not write a row that stays the same. Sums of large numbers keep unique values apart.
        let write = try PreparedQuery(
            """
            UPDATE \(quoted) SET \(column) = CASE typeof(\(column)) WHEN 'text' THEN CASE WHEN \(column) LIKE '%~' THEN rtrim(\(column), '~') ELSE \(column) || '~' END \
            WHEN 'blob' THEN randomblob(length(\(column))) ELSE coalesce(\(column), 0) + 1000003 END \
            WHERE (\(list)) = (\(parameters))
            """, on: file)
        let values = (0..<Int(count)).map { rows[$0 % rows.count] }
        do {
            _ = try write.run(values)
        } catch {
            throw Untriable("Rows of \(table) cannot be changed for a trial, because of a constraint or a trigger.")
        }
        pair = StatementPair(
            before: .init(trips: count, run: { try values.reduce(0) { try $0 + write.run([$1]) } }, file: file),
            after: .init(
                trips: 1,
                run: {
                    try file.run("BEGIN")
                    defer { try? file.run("COMMIT") }
                    return try write.run(values)
                }, file: file),
            operations: count,
            notes: [
                "Existing rows of \(table) were changed instead of the recorded ones, in the temporary folder and with SQLite's "
                    + "default settings."
            ],
            clock: .wall, comparesRows: false)
        pair.folder = folder
    }
}
