import FaultlineRecorder
import FaultlineTrace
import Foundation

/// Work in a transaction of a store, which is committed with that of other stores.
protocol StoreTransaction {
    /// What is done, in the words of an error: `"Saving"`.
    static var task: String { get }
    var store: SQLStore { get }
    /// What was done so far.
    var span: SaveSpan? { get set }
    /// The files of large values that were made, and those that are not needed once it is committed.
    var files: ExternalWrites { get set }
    /// Runs a statement that begins or ends the transaction.
    mutating func control(_ sql: String) throws(StoreError)
    /// Does everything but the commit; a failure takes it back.
    mutating func write() throws(StoreError)
    /// Shows what was committed to those who read.
    mutating func finish()
}

extension StoreTransaction {
    /// Called when the store's connection is asked for.
    mutating func willLock() { span?.restart() }

    /// Called when it is there.
    mutating func didLock() { span?.didLock() }

    mutating func begin() throws(StoreError) {
        span?.restart()
        try control("BEGIN EXCLUSIVE")
        span?.didLock()
    }

    /// Makes what was written last; a failure takes it back.
    mutating func commit() throws(StoreError) {
        span?.restart()
        files.willCommit()
        do throws(StoreError) {
            try store.writeFile(doing: Self.task)
            try control("COMMIT")
        } catch {
            rollBack()
            throw error
        }
        span?.didCommit()
    }

    /// Takes back what was written.
    mutating func rollBack() {
        // A failed COMMIT leaves the transaction open; other failures may have ended it already.
        if !store.writer.sqlite.isAutocommit { try? control("ROLLBACK") }
        files.undo()
    }
}
