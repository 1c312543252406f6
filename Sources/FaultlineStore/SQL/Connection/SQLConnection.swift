import CSQLite
import CStore
import Foundation

/// A connection to SQLite with the statements that were prepared on it.
///
/// Opened without SQLite's own mutexes (`SQLITE_OPEN_NOMUTEX`, https://www.sqlite.org/threadsafe.html): used under its
/// store's lock.
final class SQLConnection {
    let path: String
    let handle: OpaquePointer
    let busyTimeout: Double
    /// Waits where another connection has locked the file.
    let busy: BusyHandler
    /// What triggers did while a save ran.
    let effects = TriggerEffects()
    private let texts: UnsafeMutablePointer<SQLFunctions.Counts>
    private var statements: [String: SQLStatement] = [:]
    /// Statements that were asked for, to find out which of them were not for long.
    private var requests: UInt64 = 0
    private static let statementLimit = 256
    private var isOpen = true
    private var integerArrays: [IntegerArray] = []
    private var valueArrays: [ValueArray] = []

    /// The name by which SQLite makes a database that is in memory and the connection's own
    /// (https://www.sqlite.org/inmemorydb.html).
    static let memory = ":memory:"

    /// - Parameters:
    ///   - path: the file, or what the database is called in sentences.
    ///   - name: what SQLite is to open, as a URI or ``memory``; `nil`: the file.
    init(path: String, opening name: String? = nil, isReadOnly: Bool, busyTimeout: Double) throws(StoreError) {
        if name == nil, Self.isPipeOrDevice(path) {
            throw StoreError(
                .notADatabase, "'\(path)' is a pipe or a device, which holds no store; name another file.")
        }
        self.path = path
        self.busyTimeout = busyTimeout
        busy = BusyHandler(path: path, timeout: busyTimeout)
        let access = isReadOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
        // A path may look like a URI and be none.
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

    /// What SQLite would open, and wait for.
    private static func isPipeOrDevice(_ path: String) -> Bool {
        var status = stat()
        guard stat(path, &status) == 0 else { return false }
        return ![S_IFREG, S_IFDIR].contains(status.st_mode & S_IFMT)
    }

    deinit {
        close()
        texts.deallocate()
    }

    /// Ends the connection; nothing may be asked of it any more.
    func close() {
        guard isOpen else { return }
        isOpen = false
        statements.removeAll()
        (integerArrays, valueArrays) = ([], [])
        sqlite3_close_v2(handle)
    }

    /// The statement with that text: the one that was prepared before, or a new one.
    ///
    /// Values are bound, never written, but limits and offsets are: of more than 256 statements the half that was not
    /// used for longest is let go of.
    func statement(_ sql: String) throws(StoreError) -> SQLStatement {
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

    /// Prepares a statement that is not kept.
    func prepare(_ sql: String) throws(StoreError) -> SQLStatement {
        var prepared: OpaquePointer?
        let result = sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &prepared, nil)
        guard result == SQLITE_OK, let prepared else {
            throw error(result, doing: "Preparing \"\(sql)\"")
        }
        return SQLStatement(sql: sql, handle: prepared)
    }

    /// Whether the file keeps its texts as UTF-8; not if that cannot be found out.
    var isUTF8: Bool {
        guard let statement = try? prepare("PRAGMA encoding"), sqlite3_step(statement.handle) == SQLITE_ROW else {
            return false
        }
        return String(cString: sqlite3_column_text(statement.handle, 0)) == "UTF-8"
    }

    /// Why a statement cannot be prepared; `nil`: it can.
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
                IntegerArray(try arrayTable(name, CSTORE_INTEGERS, doing: "Making an integer array")))
        }
        return integerArrays[number]
    }

    /// The table-valued array `_Z_valuearrayN`.
    func valueArray(_ number: Int) throws(StoreError) -> ValueArray {
        while valueArrays.count <= number {
            let name = "_Z_valuearray\(valueArrays.count)"
            valueArrays.append(ValueArray(try arrayTable(name, CSTORE_VALUES, doing: "Making an array of values")))
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

    func error(_ result: Int32, doing: String) -> StoreError {
        .sqlite(
            result, doing: doing, path: path, detail: String(cString: sqlite3_errmsg(handle)), busyTimeout: busyTimeout)
    }

    var changes: Int { Int(sqlite3_changes64(handle)) }

    /// Whether readers and a writer do not disturb each other.
    var hasWriteAheadLog: Bool {
        guard let statement = try? prepare("pragma journal_mode"), sqlite3_step(statement.handle) == SQLITE_ROW,
            let mode = sqlite3_column_text(statement.handle, 0)
        else { return false }
        return String(cString: mode).lowercased() == "wal"
    }

    /// Texts that were compared since the last call.
    func takeTexts() -> SQLFunctions.Counts {
        defer { texts.pointee = SQLFunctions.Counts() }
        return texts.pointee
    }

    /// Whether no transaction is open.
    var isAutocommit: Bool { sqlite3_get_autocommit(handle) != 0 }
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

    /// Sets what the table holds until the next call.
    func bind(_ new: some Collection<Int64>) {
        cstore_array_bind(table, nil, 0)
        values.deallocate()
        values = UnsafeMutableBufferPointer.allocate(capacity: new.count)
        _ = values.initialize(from: new)
        cstore_array_bind(table, values.baseAddress, Int64(values.count))
    }
}
