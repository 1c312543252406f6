import CSQLite
import Foundation

/// A connection to an SQLite file: a copy of a store that nobody else has open.
///
/// Triggers do not run, foreign keys are not enforced, and nothing that is written has to survive a crash.
final class DatabaseFile {
    let connection: OpaquePointer

    /// Opens a copy.
    ///
    /// - Parameter name: What errors call it.
    /// - Throws: ``ReplayError`` if it is no SQLite file.
    init(copy path: String, named name: String) throws(ReplayError) {
        connection = try Self.open(path, SQLITE_OPEN_READWRITE, named: name)
        try check(named: name)
        // What was in a log lies in the file from here on, so that the file can be copied by itself.
        try run("PRAGMA wal_checkpoint(TRUNCATE)")
        try run("PRAGMA journal_mode = DELETE")
        try run("PRAGMA synchronous = OFF")
        // What takes a variable number of arguments cannot be called from Swift; triggers run for no statement of ours that
        // could matter, and foreign keys are off unless SQLite was built otherwise.
        try run("PRAGMA foreign_keys = OFF")
    }

    /// Opens a store where it lies, which must not change meanwhile: nothing is locked and nothing written.
    ///
    /// See `immutable` in https://www.sqlite.org/uri.html#uriimmutable.
    ///
    /// - Throws: ``ReplayError`` if it is no SQLite file.
    init(inPlace path: String, named name: String) throws(ReplayError) {
        var parts = URLComponents()
        parts.scheme = "file"
        parts.path = URL(fileURLWithPath: path).standardizedFileURL.path
        parts.queryItems = [URLQueryItem(name: "immutable", value: "1")]
        connection = try Self.open(parts.string ?? path, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, named: name)
        try check(named: name)
    }

    /// Opens a copy, to be changed by statements that a store runs.
    ///
    /// - Parameter name: What errors call it.
    /// - Throws: ``ReplayError`` if it is no SQLite file.
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

    /// - Parameter name: What errors call it.
    private static func open(_ place: String, _ flags: Int32, named name: String) throws(ReplayError) -> OpaquePointer {
        var opened: OpaquePointer?
        let code = sqlite3_open_v2(place, &opened, flags, nil)
        guard code == SQLITE_OK, let opened else {
            sqlite3_close_v2(opened)
            throw ReplayError.notADatabase(name, String(cString: sqlite3_errstr(code)))
        }
        standIn(on: opened)
        return opened
    }

    deinit { sqlite3_close_v2(connection) }

    /// Orders texts by their bytes wherever a program has an order of its own, which only it knows.
    private static func standIn(on connection: OpaquePointer) {
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

    /// The rows of a statement.
    ///
    /// - Throws: ``ReplayError`` with SQLite's words.
    func rows(_ sql: String) throws(ReplayError) -> [[Value]] {
        var rows: [[Value]] = []
        try each(sql) { statement in
            rows.append((0..<sqlite3_column_count(statement)).map { Self.value(statement, $0) })
        }
        return rows
    }

    /// Steps through the rows of a statement.
    ///
    /// - Throws: ``ReplayError`` with SQLite's words.
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

    /// Runs a statement that gives nothing.
    func run(_ sql: String) throws(ReplayError) { _ = try rows(sql) }

    func hasTable(_ name: String) throws(ReplayError) -> Bool {
        try number("SELECT count(*) FROM sqlite_schema WHERE name = '\(name)' AND type = 'table'") == 1
    }

    /// The number that a statement gives; 0 if it gives none.
    func number(_ sql: String) throws(ReplayError) -> UInt64 { try rows(sql).first?.first?.number ?? 0 }

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
