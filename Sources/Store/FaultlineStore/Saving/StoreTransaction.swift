import CSQLite
import FaultlineRecorder
import FaultlineTrace
import Foundation

/// Work in a store's transaction, which commits together with those of other stores.
protocol StoreTransaction {
    /// The work as errors name it: `"Saving"`.
    static var task: String { get }
    var store: SQLStore { get }
    /// The record of the work so far.
    var span: SaveSpan? { get set }
    /// The files of large values that the transaction creates and replaces.
    var files: ExternalWrites { get set }
    /// Runs a statement that begins or ends the transaction.
    mutating func control(_ sql: String) throws(StoreError)
    /// Does everything except the commit; rolls back on failure.
    mutating func write() throws(StoreError)
    /// Publishes the committed changes to readers.
    mutating func finish()
}

extension StoreTransaction {
    /// Called when the transaction starts to wait for the store's connection.
    mutating func willLock() { span?.restart() }

    /// Called when it has the connection.
    mutating func didLock() { span?.didLock() }

    mutating func begin() throws(StoreError) {
        span?.restart()
        if store.writer.sqlite.hasMoved { throw StoreError.movedFile(store.path, doing: Self.task) }
        if store.writer.bulk == .none || store.writer.sqlite.isAutocommit { try control("BEGIN EXCLUSIVE") }
        span?.didLock()
    }

    /// Runs a statement, and counts the bytes of its values as written.
    ///
    /// - Returns: The number of rows that it changed.
    @discardableResult
    mutating func run(_ sql: String, _ values: [SQLValue] = []) throws(StoreError) -> Int {
        span?.event.trips += 1
        span?.writes(values)
        return try store.writer.session.run(sql, values, doing: Self.task, origin: span.origin())
    }

    /// Reads the rows of a statement that has its values.
    mutating func read(_ statement: SQLStatement, _ row: (OpaquePointer) -> Void) throws(StoreError) {
        span?.event.trips += 1
        try store.writer.session.readAsEvent(statement, doing: Self.task, origin: span.origin()) { row($0) }
    }

    mutating func read(_ select: SelectStatement, _ row: (OpaquePointer) -> Void) throws(StoreError) {
        let statement = try store.writer.bind(select)
        store.log.statement(select.sql, select.values, arrays: select.arrays.count)
        try read(statement, row)
    }

    /// Returns the first column of the first row, or `nil` if there is no row.
    mutating func first(_ sql: String, _ values: [SQLValue]) throws(StoreError) -> Int64? {
        var found: Int64?
        try read(SelectStatement(sql: sql, values: values)) { found = found ?? sqlite3_column_int64($0, 0) }
        return found
    }

    /// Commits the transaction; rolls back on failure.
    mutating func commit() throws(StoreError) {
        span?.restart()
        files.willCommit()
        do throws(StoreError) {
            try store.writeFile(doing: Self.task)
            try end()
        } catch {
            rollBack()
            throw error
        }
        span?.didCommit()
    }

    /// Rolls the transaction back.
    mutating func rollBack() {
        store.history?.forgetNames()
        undo()
        files.undo()
    }

    /// Ends the transaction, unless all saves share it.
    mutating func end() throws(StoreError) {
        if store.writer.bulk == .none { try control("COMMIT") }
    }

    /// Undoes the changes to the database.
    mutating func undo() {
        if store.writer.bulk != .none { store.writer.bulk = .damaged }
        // A failed COMMIT leaves the transaction open; other failures may have ended it already.
        if !store.writer.sqlite.isAutocommit { try? control("ROLLBACK") }
    }
}

/// Transactions in several stores: all rows are written and checked in every store before the first commit.
///
/// A later commit that fails cannot revert earlier ones. The stores most likely to fail therefore commit first: a
/// binary store writes its whole file, and a store in memory cannot fail.
struct JointTransaction<Part: StoreTransaction> {
    private(set) var parts: [Part]
    /// The index of the part that could not be written or committed.
    private(set) var failed: Int?
    /// The indexes of the committed parts.
    private(set) var committed: [Int] = []

    /// Creates the transaction.
    ///
    /// - Parameter parts: One for each store, in the coordinator's order. Everyone locks stores in this order, which
    ///   prevents deadlocks.
    init(_ parts: [Part]) {
        self.parts = parts
    }

    /// Writes and commits all parts.
    ///
    /// - Throws: ``StoreError`` if a part fails. If other parts were already committed, the error lists their stores.
    mutating func run(for origin: TraceOrigin) throws(StoreError) {
        failed = nil
        try write(from: 0, origin)
    }

    private mutating func write(from position: Int, _ origin: TraceOrigin) throws(StoreError) {
        guard position < parts.count else { return try commit() }
        let store = parts[position].store
        parts[position].willLock()
        try store.writer.locked(for: origin) { () throws(StoreError) in
            parts[position].didLock()
            do throws(StoreError) {
                try parts[position].write()
            } catch {
                failed = position
                throw error
            }
            do throws(StoreError) {
                try write(from: position + 1, origin)
            } catch {
                if failed != position, !committed.contains(position) { parts[position].rollBack() }
                throw error
            }
        }
    }

    private mutating func commit() throws(StoreError) {
        let order = parts.count == 1 ? [0] : parts.indices.sorted { rank($0) < rank($1) }
        var failure: StoreError?
        for position in order {
            do throws(StoreError) {
                try parts[position].commit()
                committed.append(position)
            } catch {
                failed = position
                failure = error
                break
            }
        }
        for position in committed { parts[position].finish() }
        guard var failure else { return }
        if !committed.isEmpty {
            let saved = committed.map { parts[$0].store }
            let names = saved.map { "'\($0.path)'" }.joined(separator: " and ")
            failure.message = "The changes to \(names) were saved, but the others were not: \(failure.message)"
            failure.savedStores = saved.map(\.identity)
        }
        throw failure
    }

    private func rank(_ position: Int) -> Int {
        switch parts[position].store.description.type {
        case .binary: 0
        case .sqlite: 1
        case .inMemory: 2
        }
    }
}
