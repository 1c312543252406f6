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
}
