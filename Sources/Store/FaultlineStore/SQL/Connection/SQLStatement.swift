import CSQLite
import FaultlineTrace
import Foundation

/// A prepared statement that is cached and run again.
///
/// Belongs to one connection, and is used under its store's lock.
package final class SQLStatement {
    let sql: String
    package let handle: OpaquePointer
    let type: TraceEvent.Statement.StatementType
    /// Whether it has not been run since it was prepared.
    var isFresh = true
    /// The connection's request count when it was last requested.
    var lastRequest: UInt64 = 0
    /// The numbers in the trace's dictionary; 0 until it is recorded.
    var traceID: DictionaryID = 0
    var planID: DictionaryID = 0

    init(sql: String, handle: OpaquePointer) {
        self.sql = sql
        self.handle = handle
        type = Self.type(of: sql)
    }

    deinit {
        sqlite3_finalize(handle)
    }

    private static func type(of sql: String) -> TraceEvent.Statement.StatementType {
        let word = sql.prefix { $0 != " " }.uppercased()
        switch word {
        case "SELECT": return .read
        case "INSERT", "UPDATE", "DELETE": return .write
        case "BEGIN", "COMMIT", "ROLLBACK": return .transaction
        default: return .schema
        }
    }

    /// Binds a value; positions start at 1.
    @discardableResult
    package func bind(_ value: SQLValue, at position: Int32) -> Int32 {
        switch value {
        case .null: return sqlite3_bind_null(handle, position)
        case .integer(let value): return sqlite3_bind_int64(handle, position, value)
        case .real(let value): return sqlite3_bind_double(handle, position, value)
        case .text(var value):
            return value.withUTF8 { text in
                text.withMemoryRebound(to: CChar.self) {
                    // An empty string may have no address, and a null pointer would bind NULL.
                    csqlite_bind_text(handle, position, $0.baseAddress ?? Self.nothing, Int32($0.count))
                }
            }
        case .blob(let value):
            return value.withUnsafeBytes {
                csqlite_bind_blob(handle, position, $0.baseAddress ?? UnsafeRawPointer(Self.nothing), Int32($0.count))
            }
        }
    }

    private nonisolated(unsafe) static let nothing = UnsafePointer(UnsafeMutablePointer<CChar>.allocate(capacity: 1))

    /// Resets the statement for its next run.
    ///
    /// Keeps the bindings.
    package func reset() {
        sqlite3_reset(handle)
        isFresh = false
    }
}
