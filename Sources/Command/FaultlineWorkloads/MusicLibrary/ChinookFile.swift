import CSQLite
import Foundation

/// A read-only SQLite file.
///
/// It is read with SQLite's C API, because it is a foreign database and not a store.
final class ChinookFile {
    let path: String
    private let connection: OpaquePointer

    /// The timeout for another connection's lock, in milliseconds.
    private static let busyTimeout: Int32 = 5000

    init(path: String) throws(ChinookError) {
        self.path = path
        var status = stat()
        guard stat(path, &status) == 0 else { throw .unreadable(path, "there is no such file; check the path.") }
        switch status.st_mode & S_IFMT {
        case S_IFREG: break
        case S_IFDIR: throw .unreadable(path, "it is a folder; name a file in it.")
        // Opening a pipe would wait for a writer.
        default: throw .unreadable(path, "it is not a regular file; name one.")
        }
        var opened: OpaquePointer?
        let result = sqlite3_open_v2(path, &opened, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, nil)
        guard result == SQLITE_OK, let opened else {
            sqlite3_close(opened)
            throw .unreadable(path, "it cannot be opened; check that this user may read it.")
        }
        connection = opened
        sqlite3_busy_timeout(opened, Self.busyTimeout)
        // A transaction, to read all tables in the same state.
        guard sqlite3_exec(opened, "BEGIN", nil, nil, nil) == SQLITE_OK else { throw failure() }
    }

    deinit {
        sqlite3_close(connection)
    }

    // MARK: - Tables

    /// Checks that all tables and columns exist.
    ///
    /// - Throws: ``ChinookError`` that lists the missing ones.
    func check(_ rows: [any ChinookRow.Type]) throws(ChinookError) {
        var tables: [String] = []
        var columns: [String] = []
        for row in rows {
            var present: Set<String> = []
            try forEachRow("SELECT name FROM pragma_table_info('\(row.table)')") {
                present.insert(($0.text(0) ?? "").lowercased())
            }
            if present.isEmpty {
                tables.append(row.table)
            } else {
                columns += row.columns.filter { !present.contains($0.lowercased()) }.map { "\(row.table).\($0)" }
            }
        }
        guard tables.isEmpty, columns.isEmpty else { throw .incomplete(path, tables: tables, columns: columns) }
    }

    /// Returns all rows of a table, ordered by their columns.
    func rows<Row: ChinookRow>(_ type: Row.Type = Row.self) throws(ChinookError) -> [Row] {
        let columns = Row.columns.map { "\"\($0)\"" }
        let order = (1...columns.count).map(String.init).joined(separator: ", ")
        var rows: [Row] = []
        try forEachRow("SELECT \(columns.joined(separator: ", ")) FROM \"\(Row.table)\" ORDER BY \(order)") {
            rows.append(Row($0))
        }
        return rows
    }

    private func forEachRow(_ sql: String, _ body: (Row) -> Void) throws(ChinookError) {
        var statement: OpaquePointer?
        guard sqlite3_prepare_v2(connection, sql, -1, &statement, nil) == SQLITE_OK, let statement else {
            throw failure()
        }
        defer { sqlite3_finalize(statement) }
        while true {
            switch sqlite3_step(statement) {
            case SQLITE_ROW: body(Row(statement: statement))
            case SQLITE_DONE: return
            default: throw failure()
            }
        }
    }

    private func failure() -> ChinookError {
        let code = sqlite3_extended_errcode(connection)
        if code & 0xff == SQLITE_NOTADB {
            return .unreadable(path, "it is not an SQLite database; name Chinook's SQLite file.")
        }
        let message = String(cString: sqlite3_errmsg(connection))
        return .unreadable(path, "SQLite reports \"\(message)\" (code \(code)); try again, or get the file again.")
    }

    /// The current row of a statement.
    struct Row {
        fileprivate let statement: OpaquePointer

        func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(statement, column) }

        /// Returns a number, or `nil` for NULL.
        func reference(_ column: Int32) -> Int64? {
            sqlite3_column_type(statement, column) == SQLITE_NULL ? nil : integer(column)
        }

        func text(_ column: Int32) -> String? {
            guard let bytes = sqlite3_column_text(statement, column) else { return nil }
            let count = Int(sqlite3_column_bytes(statement, column))
            return String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
        }
    }
}
