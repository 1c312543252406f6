import CSQLite
import FaultlineRecorder
import FaultlineStore
import Foundation

extension StoreOpening {
    /// Opens a connection to a store that nobody else uses, and locks it, for a migration.
    ///
    /// Only a connection that is alone can leave the write-ahead log, whose contents are moved to the store. Two that wait for each
    /// other would wait forever, so each attempt closes its own.
    ///
    /// - Parameters:
    ///   - writer: A connection to the store in a file that the first attempt uses; `nil` to open one.
    ///   - lock: Takes a lock that keeps others from writing, or none.
    /// - Throws: `StoreError` with the code `busy` if others use the store for longer than the description's `busyTimeout`.
    static func soleSession(
        _ description: PersistentStoreDescription, _ recorder: Recorder, _ log: SQLDebugLog,
        trying writer: SQLSession? = nil, lock: (StoreSetup) throws(StoreError) -> Void
    ) throws(StoreError) -> StoreSetup {
        let end = ContinuousClock.now + .seconds(description.busyTimeout)
        var first = writer
        while true {
            let session = if let first { first } else { try connect(description, recorder: recorder, log: log) }
            defer { first = nil }
            let setup = StoreSetup(session, path: description.path, doing: StoreMigration.doing)
            do throws(StoreError) {
                // Opening the store has turned them on, and a migration's statements must not run a program's triggers again.
                if first != nil { try setup.pragma("recursive_triggers=0") }
                if !description.isInMemory { try setup.pragma("journal_mode=delete") }
                try setup.pragma("synchronous=\(description.synchronization.rawValue)")
                try lock(setup)
                // Another program that opened the store may have returned to the log before the lock was taken. With a log,
                // the lock would let others read.
                guard !session.connection.hasWriteAheadLog else {
                    throw session.connection.error(SQLITE_BUSY, doing: StoreMigration.doing)
                }
                return setup
            } catch {
                session.connection.close()
                guard error.code == .busy, ContinuousClock.now < end else { throw error }
                sqlite3_sleep(.random(in: 1...20))
            }
        }
    }
}
