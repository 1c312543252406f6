import CSQLite
import Foundation

/// A connection to an SQLite file, usually a copy of a store that no other connection uses.
///
/// Foreign keys are not enforced, and writes need not survive a crash.
final class DatabaseFile {
    let connection: OpaquePointer

    /// Opens a copy.
    ///
    /// - Parameter name: The name used in errors.
    /// - Throws: ``ReplayError`` if it is not an SQLite file.
    init(copy path: String, named name: String) throws(ReplayError) {
        connection = try Self.open(path, SQLITE_OPEN_READWRITE, named: name)
        try check(named: name)
        // This moves the log's contents into the file, so the file can be copied on its own.
        try run("PRAGMA wal_checkpoint(TRUNCATE)")
        try run("PRAGMA journal_mode = DELETE")
        try run("PRAGMA synchronous = OFF")
        // `sqlite3_db_config` is variadic, so Swift cannot call it. No statement here depends on triggers, and foreign
        // keys are off unless SQLite was built otherwise.
        try run("PRAGMA foreign_keys = OFF")
    }

    /// Opens a store in place, without locking or writing.
    ///
    /// The store must not change meanwhile.
    ///
    /// See `immutable` in https://www.sqlite.org/uri.html#uriimmutable.
    ///
    /// - Throws: ``ReplayError`` if it is not an SQLite file.
    init(inPlace path: String, named name: String) throws(ReplayError) {
        var parts = URLComponents()
        parts.scheme = "file"
        parts.path = URL(fileURLWithPath: path).standardizedFileURL.path
        parts.queryItems = [URLQueryItem(name: "immutable", value: "1")]
        connection = try Self.open(parts.string ?? path, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, named: name)
        try check(named: name)
    }

    /// Opens an empty database in memory.
    ///
    /// - Parameter name: The name used in errors.
    init(inMemory name: String) throws(ReplayError) {
        connection = try Self.open(":memory:", SQLITE_OPEN_READWRITE, named: name)
    }

    /// Opens a copy that the statements of a store will change.
    ///
    /// - Parameter name: The name used in errors.
    /// - Throws: ``ReplayError`` if it is not an SQLite file.
    init(writing path: String, named name: String) throws(ReplayError) {
        connection = try Self.open(path, SQLITE_OPEN_READWRITE, named: name)
        try check(named: name)
    }

    private func check(named name: String) throws(ReplayError) {
        do {
            _ = try rows("SELECT count(*) FROM sqlite_schema")
        } catch {
            throw ReplayError.notADatabase(name, error.reason)
        }
    }

    /// - Parameter name: The name used in errors.
    private static func open(_ position: String, _ flags: Int32, named name: String) throws(ReplayError)
        -> OpaquePointer
    {
        var opened: OpaquePointer?
        let code = sqlite3_open_v2(position, &opened, flags, nil)
        guard code == SQLITE_OK, let opened else {
            sqlite3_close_v2(opened)
            throw ReplayError.notADatabase(name, String(cString: sqlite3_errstr(code)))
        }
        defineMissingCollations(on: opened)
        return opened
    }

    deinit {
        sqlite3_close_v2(connection)
    }

    /// Keeps statements from reaching other files, by ATTACH or VACUUM, from now on.
    ///
    /// For statements of a trace, which others may have written.
    func forbidOtherFiles() { sqlite3_limit(connection, SQLITE_LIMIT_ATTACHED, 0) }

    /// The number of steps of SQLite's virtual machine between two looks at the clock.
    private static let stepsBetweenLooks: Int32 = 100_000

    /// Does some work on the file, and interrupts its queries after a time in nanoseconds.
    ///
    /// - Throws: The error of the work, with SQLite's message if it was interrupted.
    func limitingQueries<Result>(to time: UInt64, _ work: () throws -> Result) rethrows -> Result {
        var deadline = TrialClock.wall.now &+ time
        return try withUnsafeMutablePointer(to: &deadline) { deadline in
            sqlite3_progress_handler(
                connection, Self.stepsBetweenLooks,
                { deadline in
                    let end = deadline?.assumingMemoryBound(to: UInt64.self).pointee ?? .max
                    return TrialClock.wall.now > end ? 1 : 0
                }, deadline)
            defer { sqlite3_progress_handler(connection, 0, nil, nil) }
            return try work()
        }
    }

    /// Whether the last error is that of an interrupted query.
    var wasInterrupted: Bool { sqlite3_errcode(connection) == SQLITE_INTERRUPT }

    /// Whether the last statement failed because of a constraint.
    var hasViolatedConstraint: Bool { sqlite3_errcode(connection) & 0xFF == SQLITE_CONSTRAINT }

    /// Defines any missing collation, which only the program knows, as an order by bytes.
    private static func defineMissingCollations(on connection: OpaquePointer) {
        sqlite3_collation_needed(connection, nil) { _, connection, _, name in
            sqlite3_create_collation_v2(
                connection, name, SQLITE_UTF8, nil,
                { _, count, bytes, otherCount, otherBytes in
                    guard let bytes, let otherBytes else { return count - otherCount }
                    let order = memcmp(bytes, otherBytes, Int(min(count, otherCount)))
                    return order == 0 ? count - otherCount : order
                }, nil)
        }
    }

    /// A value of a row.
    enum Value {
        case null
        case integer(Int64)
        case real(Double)
        case text(String)
        case bytes(Int)

        var number: UInt64 {
            switch self {
            case .integer(let value): UInt64(clamping: value)
            case .real(let value): value.isFinite && value > 0 ? UInt64(min(value, 9e18)) : 0
            case .null, .text, .bytes: 0
            }
        }

        var real: Double {
            switch self {
            case .integer(let value): Double(value)
            case .real(let value): value
            case .null, .text, .bytes: 0
            }
        }

        var text: String { if case .text(let text) = self { text } else { "" } }
    }

    /// Returns the rows of a statement.
    ///
    /// - Throws: ``ReplayError`` with SQLite's message.
    func rows(_ sql: String) throws(ReplayError) -> [[Value]] {
        var rows: [[Value]] = []
        try each(sql) { statement in
            rows.append((0..<sqlite3_column_count(statement)).map { Self.value(statement, $0) })
        }
        return rows
    }

    /// Steps through the rows of a statement.
    ///
    /// - Throws: ``ReplayError`` with SQLite's message.
    func each(_ sql: String, _ row: (OpaquePointer) -> Void) throws(ReplayError) {
        var prepared: OpaquePointer?
        let code = sqlite3_prepare_v2(connection, sql, -1, &prepared, nil)
        guard code == SQLITE_OK, let statement = prepared else { throw failure(sql) }
        defer { sqlite3_finalize(statement) }
        while true {
            let result = sqlite3_step(statement)
            if result == SQLITE_DONE { return }
            guard result == SQLITE_ROW else { throw failure(sql) }
            row(statement)
        }
    }

    /// Runs a statement and ignores its rows.
    func run(_ sql: String) throws(ReplayError) { _ = try rows(sql) }

    /// A name, in double quotes.
    static func quoted(_ name: String) -> String {
        "\"" + name.replacingOccurrences(of: "\"", with: "\"\"", options: .literal) + "\""
    }

    /// The name of a table or index, with that of its database.
    static func qualified(_ name: String, in database: String) -> String { "\(quoted(database)).\(quoted(name))" }

    /// Attaches a database under a name.
    func attach(_ path: String, as name: String) throws(ReplayError) {
        try run("ATTACH \(Self.literal(path)) AS \(Self.quoted(name))")
    }

    /// Reads the statistics of a database again, which SQLite keeps in memory.
    func reloadStatistics(of database: String) throws(ReplayError) {
        try run("ANALYZE \(Self.qualified("sqlite_schema", in: database))")
    }

    /// A text, in single quotes.
    static func literal(_ text: String) -> String {
        "'" + text.replacingOccurrences(of: "'", with: "''", options: .literal) + "'"
    }

    /// Whether a column's name is one of SQLite's names for the row ID.
    static func isRowID(_ column: String) -> Bool { ["rowid", "oid", "_rowid_"].contains(column.lowercased()) }

    func hasTable(_ name: String) throws(ReplayError) -> Bool {
        try number("SELECT count(*) FROM sqlite_schema WHERE name = '\(name)' AND type = 'table'") == 1
    }

    /// The number that a statement returns, or 0 if it returns none.
    func number(_ sql: String) throws(ReplayError) -> UInt64 { try rows(sql).first?.first?.number ?? 0 }

    /// The bytes that a statement returns, or `nil` if it returns none.
    func bytes(_ sql: String) throws(ReplayError) -> Data? {
        var found: Data?
        try each(sql) { row in
            guard found == nil, let bytes = sqlite3_column_blob(row, 0) else { return }
            found = Data(bytes: bytes, count: Int(sqlite3_column_bytes(row, 0)))
        }
        return found
    }

    private static func value(_ statement: OpaquePointer, _ column: Int32) -> Value {
        switch sqlite3_column_type(statement, column) {
        case SQLITE_INTEGER: .integer(sqlite3_column_int64(statement, column))
        case SQLITE_FLOAT: .real(sqlite3_column_double(statement, column))
        case SQLITE_TEXT:
            .text(
                String(
                    decoding: UnsafeBufferPointer(
                        start: sqlite3_column_text(statement, column),
                        count: Int(sqlite3_column_bytes(statement, column))),
                    as: UTF8.self))
        case SQLITE_BLOB: .bytes(Int(sqlite3_column_bytes(statement, column)))
        default: .null
        }
    }

    func failure(_ sql: String) -> ReplayError {
        .sqlite(sqlite3_errcode(connection), String(cString: sqlite3_errmsg(connection)), sql: sql)
    }
}
