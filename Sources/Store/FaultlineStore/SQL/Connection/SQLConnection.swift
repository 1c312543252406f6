import CSQLite
import CStore
import Foundation

/// A connection to SQLite with its prepared statements.
///
/// Opened without SQLite's own mutexes (`SQLITE_OPEN_NOMUTEX`, https://www.sqlite.org/threadsafe.html): used under its
/// store's lock.
package final class SQLConnection {
    let path: String
    package let handle: OpaquePointer
    package let busyTimeout: Double
    /// Waits if another connection has locked the file.
    let busy: BusyHandler
    /// The rows that triggers changed during a save.
    let effects = TriggerEffects()
    private let texts: UnsafeMutablePointer<SQLFunctions.Counts>
    private var statements: [String: SQLStatement] = [:]
    /// The number of statement requests, which shows how recently each statement was used.
    private var requests: UInt64 = 0
    private static let statementLimit = 256
    private var isOpen = true
    private var integerArrays: [IntegerArray] = []
    private var valueArrays: [ValueArray] = []

    /// SQLite's name for a private in-memory database (https://www.sqlite.org/inmemorydb.html).
    package static let memory = ":memory:"

    /// Opens a connection.
    ///
    /// - Parameters:
    ///   - path: The file, or the database's name in messages.
    ///   - name: The database that SQLite opens, as a URI or ``memory``; `nil` for the file.
    package init(path: String, opening name: String? = nil, isReadOnly: Bool, busyTimeout: Double) throws(StoreError) {
        if name == nil, Self.isPipeOrDevice(path) {
            throw StoreError(
                .notADatabase, "'\(path)' is a pipe or a device, which cannot hold a store; name another file.")
        }
        self.path = path
        self.busyTimeout = busyTimeout
        busy = BusyHandler(path: path, timeout: busyTimeout)
        let access = isReadOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
        // A path may look like a URI without being one.
        let flags = access | SQLITE_OPEN_NOMUTEX | (name == nil ? 0 : SQLITE_OPEN_URI)
        var opened: OpaquePointer?
        let result = sqlite3_open_v2(name ?? path, &opened, flags, nil)
        guard result == SQLITE_OK, let opened else {
            let error = StoreError.sqlite(
                opened.map(sqlite3_extended_errcode) ?? result, doing: "Opening the store", path: path,
                detail: opened.map { String(cString: sqlite3_errmsg($0)) } ?? "out of memory")
            sqlite3_close(opened)
            throw error
        }
        handle = opened
        texts = UnsafeMutablePointer.allocate(capacity: 1)
        texts.initialize(to: SQLFunctions.Counts())
        sqlite3_extended_result_codes(handle, 1)
        busy.register(on: handle)
        var registered = SQLFunctions.register(on: handle, counts: texts)
        if registered == SQLITE_OK { registered = TextOrder.register(on: handle) }
        if registered == SQLITE_OK { registered = effects.register(on: handle) }
        guard registered == SQLITE_OK else { throw error(registered, doing: "Opening the store") }
    }

    /// Whether a path is a pipe or a device, which SQLite would open and wait for.
    private static func isPipeOrDevice(_ path: String) -> Bool {
        var status = stat()
        guard stat(path, &status) == 0 else { return false }
        return ![S_IFREG, S_IFDIR].contains(status.st_mode & S_IFMT)
    }

    deinit {
        close()
        texts.deallocate()
    }

    /// Closes the connection, which must not be used afterward.
    package func close() {
        guard isOpen else { return }
        isOpen = false
        statements.removeAll()
        (integerArrays, valueArrays) = ([], [])
        sqlite3_close_v2(handle)
    }

    /// Returns the prepared statement for a text, from the cache if possible.
    ///
    /// Values are bound, but limits and offsets are part of the text. If there are more than 256 statements, the least
    /// recently used half is discarded.
    package func statement(_ sql: String) throws(StoreError) -> SQLStatement {
        requests += 1
        if let statement = statements[sql] {
            statement.lastRequest = requests
            return statement
        }
        let statement = try prepare(sql)
        statement.lastRequest = requests
        statements[sql] = statement
        if statements.count > Self.statementLimit {
            let median = statements.values.map(\.lastRequest).sorted()[statements.count / 2]
            statements = statements.filter { $0.value.lastRequest >= median }
        }
        return statement
    }

    var statementCount: Int { statements.count }

    /// Prepares a statement without caching it.
    package func prepare(_ sql: String) throws(StoreError) -> SQLStatement {
        var prepared: OpaquePointer?
        let result = sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &prepared, nil)
        guard result == SQLITE_OK, let prepared else {
            throw error(result, doing: "Preparing \"\(sql)\"")
        }
        return SQLStatement(sql: sql, handle: prepared)
    }

    /// Whether the file's text encoding is UTF-8; false if it cannot be determined.
    var isUTF8: Bool { pragma("encoding") == "UTF-8" }

    /// Whether the journal mode is WAL, in which readers and a writer do not block each other; false if it cannot be
    /// determined.
    package var hasWriteAheadLog: Bool { pragma("journal_mode") == "wal" }

    /// Returns the value of a pragma, without an event and without a line in the log.
    private func pragma(_ name: String) -> String? {
        guard let statement = try? prepare("PRAGMA \(name)"), sqlite3_step(statement.handle) == SQLITE_ROW else {
            return nil
        }
        return sqlite3_column_text(statement.handle, 0).map { String(cString: $0) }
    }

    /// SQLite's message if a statement cannot be prepared; otherwise `nil`.
    func problem(preparing sql: String) -> String? {
        var prepared: OpaquePointer?
        defer { sqlite3_finalize(prepared) }
        return sqlite3_prepare_v2(handle, sql, -1, &prepared, nil) == SQLITE_OK
            ? nil : String(cString: sqlite3_errmsg(handle))
    }

    /// The table-valued array `_Z_intarrayN`.
    func integerArray(_ number: Int) throws(StoreError) -> IntegerArray {
        while integerArrays.count <= number {
            let name = "_Z_intarray\(integerArrays.count)"
            integerArrays.append(
                IntegerArray(try arrayTable(name, CSTORE_INTEGERS, doing: "Creating an integer array")))
        }
        return integerArrays[number]
    }

    /// The table-valued array `_Z_valuearrayN`.
    func valueArray(_ number: Int) throws(StoreError) -> ValueArray {
        while valueArrays.count <= number {
            let name = "_Z_valuearray\(valueArrays.count)"
            valueArrays.append(ValueArray(try arrayTable(name, CSTORE_VALUES, doing: "Creating an array of values")))
        }
        return valueArrays[number]
    }

    private func arrayTable(
        _ name: String, _ kind: cstore_array_kind, doing: String
    ) throws(StoreError) -> OpaquePointer {
        var result = SQLITE_OK
        guard let table = cstore_array_create(handle, name, kind, &result) else { throw error(result, doing: doing) }
        return table
    }

    package func error(_ result: Int32, doing: String) -> StoreError {
        .sqlite(
            result, doing: doing, path: path, detail: String(cString: sqlite3_errmsg(handle)), busyTimeout: busyTimeout)
    }

    var changes: Int { Int(sqlite3_changes64(handle)) }

    /// Returns the number of text comparisons since the last call.
    func takeTextCounts() -> SQLFunctions.Counts {
        defer { texts.pointee = SQLFunctions.Counts() }
        return texts.pointee
    }

    /// Whether no transaction is open.
    package var isAutocommit: Bool { sqlite3_get_autocommit(handle) != 0 }
}

/// Integers that a statement reads as a table.
final class IntegerArray {
    private let table: OpaquePointer
    private var values: UnsafeMutableBufferPointer<Int64>

    init(_ table: OpaquePointer) {
        self.table = table
        values = UnsafeMutableBufferPointer(start: nil, count: 0)
    }

    deinit {
        values.deallocate()
    }

    /// Sets the table's contents until the next call.
    func bind(_ new: some Collection<Int64>) {
        cstore_array_bind(table, nil, 0)
        values.deallocate()
        values = UnsafeMutableBufferPointer.allocate(capacity: new.count)
        _ = values.initialize(from: new)
        cstore_array_bind(table, values.baseAddress, Int64(values.count))
    }
}
