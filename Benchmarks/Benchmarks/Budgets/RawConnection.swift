import CSQLitePeer
import Foundation

/// A connection through SQLite's C interface with the store's configuration: the same library, page cache and locking.
final class RawConnection {
    let handle: OpaquePointer

    init(_ url: URL) {
        var opened: OpaquePointer?
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX
        guard sqlite3_open_v2(url.path, &opened, flags, nil) == SQLITE_OK, let opened else {
            fatalError("SQLite cannot open '\(url.path)'.")
        }
        handle = opened
        run("PRAGMA cache_size = -32768")
        run("PRAGMA synchronous = OFF")
    }

    deinit {
        sqlite3_close_v2(handle)
    }

    func run(_ sql: String) {
        guard sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else {
            fatalError("\(sql): \(String(cString: sqlite3_errmsg(handle)))")
        }
    }

    func prepare(_ sql: String) -> OpaquePointer {
        var statement: OpaquePointer?
        guard sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK, let statement else {
            fatalError("\(sql): \(String(cString: sqlite3_errmsg(handle)))")
        }
        return statement
    }
}
