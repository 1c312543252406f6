import CSQLite
import Testing

/// An SQLite file that a test creates or changes, without the store.
enum SQLiteFile {
    /// Runs statements on a file, which is created if it does not exist.
    static func run(_ sql: String, on path: String) throws {
        var connection: OpaquePointer?
        try #require(sqlite3_open(path, &connection) == SQLITE_OK)
        defer { sqlite3_close(connection) }
        try #require(sqlite3_exec(connection, sql, nil, nil, nil) == SQLITE_OK)
    }

    /// The first row that a query finds, as texts.
    static func row(_ query: String, of path: String) throws -> [String] {
        var connection: OpaquePointer?
        try #require(sqlite3_open_v2(path, &connection, SQLITE_OPEN_READONLY, nil) == SQLITE_OK)
        defer { sqlite3_close(connection) }
        var statement: OpaquePointer?
        try #require(sqlite3_prepare_v2(connection, query, -1, &statement, nil) == SQLITE_OK)
        defer { sqlite3_finalize(statement) }
        try #require(sqlite3_step(statement) == SQLITE_ROW)
        return (0..<sqlite3_column_count(statement)).map { column in
            sqlite3_column_text(statement, column).map { String(cString: $0) } ?? ""
        }
    }
}
