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
        if store.writer.bulk == .none || store.writer.sqlite.isAutocommit { try control("BEGIN EXCLUSIVE") }
        span?.didLock()
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
