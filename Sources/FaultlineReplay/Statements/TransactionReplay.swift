import FaultlineAnalysis

/// Small transactions, and one for all their rows, on a copy that waits for the disk as SQLite does by default.
///
/// Existing rows are changed, because the recorded writes may not be possible again.
struct TransactionReplay {
    let pair: StatementPair

    /// The most transactions to replay.
    private static let most: UInt64 = 50

    /// - Parameter folder: It has a copy of the database.
    init(_ change: StatementChange, _ transactions: UInt64, _ folder: ScratchFolder, named name: String) throws {
        guard let table = StatementSlots(change.sql).tables.first else {
            throw Untriable("The statement's table is unknown.")
        }
        let file = try DatabaseFile(writing: folder.duplicateStore(as: "written.sqlite"), named: name)
        let count = max(2, min(transactions, Self.most))
        let (quoted, literal) = (DrawnStatement.quoted(table), "'" + table.replacing("'", with: "''") + "'")
        let columns = try file.rows("SELECT name FROM pragma_table_info(\(literal)) WHERE pk = 0 ORDER BY cid LIMIT 1")
        guard let column = columns.first.map({ DrawnStatement.quoted($0[0].text) }) else {
            throw Untriable("The store has no table \(table) with a column to write.")
        }
        let rows = try file.values("SELECT rowid FROM \(quoted) LIMIT \(count)")
        guard !rows.isEmpty else { throw Untriable("The store has no rows in \(table) to write.") }
        // SQLite does not write a row that stays the same. Sums of large numbers keep unique values apart.
        let write = try PreparedQuery(
            """
            UPDATE \(quoted) SET \(column) = CASE typeof(\(column)) WHEN 'text' THEN substr(\(column), 2) || substr(\(column), 1, 1) \
            WHEN 'blob' THEN randomblob(length(\(column))) ELSE coalesce(\(column), 0) + 1000003 END WHERE rowid = ?
            """, on: file)
        let values = (0..<Int(count)).map { rows[$0 % rows.count] }
        pair = StatementPair(
            before: .init(trips: count, run: { try values.reduce(0) { try $0 + write.run([$1]) } }),
            after: .init(
                trips: 1,
                run: {
                    try file.run("BEGIN")
                    defer { try? file.run("COMMIT") }
                    return try write.run(values)
                }),
            operations: count,
            notes: [
                "Existing rows of \(table) were changed instead of the recorded ones, in the temporary folder and with SQLite's "
                    + "default settings."
            ],
            clock: .wall, comparesRows: false)
    }
}
