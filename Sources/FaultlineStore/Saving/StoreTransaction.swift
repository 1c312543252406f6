import FaultlineRecorder
import FaultlineTrace
import Foundation

/// Work in a transaction of a store, which is committed with that of other stores.
protocol StoreTransaction {
    /// What is done, in the words of an error: `"Saving"`.
    static var task: String { get }
    var store: SQLStore { get }
    var isRecording: Bool { get }
    /// What was done so far.
    var event: TraceEvent.Save { get set }
    /// When the store's connection was asked for.
    var asked: UInt64 { get set }
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
    mutating func willLock() {
        if isRecording { asked = store.recorder.now() }
    }

    /// Called when it is there.
    mutating func didLock() {
        if isRecording { event.lockWait += store.recorder.now() - asked }
    }

    mutating func begin() throws(StoreError) {
        let start = isRecording ? store.recorder.now() : 0
        try control("BEGIN EXCLUSIVE")
        if isRecording { event.lockWait += store.recorder.now() - start }
    }

    /// Makes what was written last; a failure takes it back.
    mutating func commit() throws(StoreError) {
        let start = isRecording ? store.recorder.now() : 0
        files.willCommit()
        do throws(StoreError) {
            try store.writeFile(doing: Self.task)
            try control("COMMIT")
        } catch {
            rollBack()
            throw error
        }
        if isRecording { event.commit = store.recorder.now() - start }
    }

    /// Takes back what was written.
    mutating func rollBack() {
        // A failed COMMIT leaves the transaction open; other failures may have ended it already.
        if !store.writer.sqlite.isAutocommit { try? control("ROLLBACK") }
        files.undo()
    }
}
