import FaultlineRecorder
import FaultlineTrace
import Foundation
import Synchronization

/// One of a store's connections with its statements and read transaction, used by one caller at a time.
///
/// "Under the lock" means within ``locked(for:_:)``.
package final class StoreConnection: @unchecked Sendable {
    // Mutable state is accessed only under the lock.
    package let session: SQLSession
    let recorder: Recorder
    let log: SQLDebugLog
    /// The cache for the rows that the connection reads.
    let rows: RowCache
    /// Compared with a burst's epoch before the burst continues.
    let epoch: ReadEpoch
    // The users of a connection hold its store through a context or a snapshot.
    @exclusivity(unchecked)
    private unowned(unsafe) var owner: SQLStore?
    private let mutex = Mutex(())
    private let lockOwner = LockOwner()
    /// The number of callers that wait for the connection.
    let waiting = Atomic<Int>(0)
    /// Whether ``ifFree(_:)`` may hold the lock, which takes only a moment.
    private let isChecking = Atomic<Bool>(false)
    let reference = ConnectionReference()

    /// The epoch and the row cache's generation when the burst began.
    @exclusivity(unchecked)
    var burst: (epoch: UInt64, rows: UInt64) = (0, 0)
    /// Whether a read transaction is open.
    @exclusivity(unchecked)
    var isReading = false
    /// The number of reading statements so far, which shows whether a burst continues.
    @exclusivity(unchecked)
    var reads: UInt64 = 0
    var isCheckScheduled = false
    /// Whether the transaction stays open.
    @exclusivity(unchecked)
    var isPinned = false
    /// Whether all saves share a transaction, which whoever began it commits.
    package enum Bulk {
        case none
        case running
        /// A save failed, and its changes cannot be undone.
        case damaged
    }

    @exclusivity(unchecked)
    package var bulk = Bulk.none
    /// Whether the store was closed.
    @exclusivity(unchecked)
    private var isClosed = false

    var insertStatements: [Int: SQLStatement] = [:]
    var updateStatements: [UpdateShape: SQLStatement] = [:]
    /// By entity; `nil` until one of its faults is read.
    @exclusivity(unchecked)
    var faultReaders: [FaultReader?]

    /// Creates a connection.
    ///
    /// - Parameter entities: The number of entities in the store's model.
    init(_ session: SQLSession, rows: RowCache, entities: Int, epoch: ReadEpoch = ReadEpoch()) {
        self.session = session
        recorder = session.recorder
        log = session.log
        self.rows = rows
        self.epoch = epoch
        faultReaders = Array(repeating: nil, count: entities)
        reference.set(self)
    }

    deinit {
        reference.clear()
    }

    /// Sets the store; called once, before the connection is shared.
    func belong(to store: SQLStore) { owner = store }

    var store: SQLStore {
        @inline(__always) get { owner.unsafelyUnwrapped }
    }

    package var sqlite: SQLConnection { session.connection }

    // MARK: - The lock

    /// Locks the connection while a closure runs.
    ///
    /// Calls must not be nested.
    ///
    /// - Parameter origin: The caller, for the events of its own wait and of those who wait for it.
    package func locked<R>(
        for origin: TraceOrigin = TraceOrigin(), _ body: () throws(StoreError) -> R
    ) throws(StoreError) -> R {
        var outcome = WorkOutcome<R>()
        outcome.fill { outcome in
            func work(_ connection: StoreConnection) {
                outcome.pointee.run(on: connection) { _ throws(StoreError) in try body() }
            }
            if !lockIfFree(for: origin, work) { lock(for: origin, .coordinator, work) }
        }
        return try outcome.get()
    }

    /// Runs work if the connection is free.
    ///
    /// - Returns: Whether the work ran.
    func lockIfFree(for origin: TraceOrigin, _ work: (StoreConnection) -> Void) -> Bool {
        while true {
            let isChecked = isChecking.load(ordering: .sequentiallyConsistent)
            if mutex.withLockIfAvailable({ _ in own(origin, work) }) != nil { return true }
            // Ending a burst takes only a moment, which does not justify another connection.
            guard isChecked || isChecking.load(ordering: .sequentiallyConsistent) else { return false }
            sched_yield()
        }
    }

    /// Waits for the connection and runs work.
    func lock(for origin: TraceOrigin, _ resource: TraceEvent.Wait.Resource, _ work: (StoreConnection) -> Void) {
        let wait = recorder.isEnabled ? (recorder.now(), lockOwner.wait(for: resource, isBlocking: true)) : nil
        waiting.add(1, ordering: .relaxed)
        mutex.withLock { _ in
            waiting.subtract(1, ordering: .relaxed)
            if let (asked, event) = wait {
                recorder.record(event, since: asked, context: origin.context, site: origin.site)
            }
            own(origin, work)
        }
    }

    private func own(_ origin: TraceOrigin, _ work: (StoreConnection) -> Void) {
        guard recorder.isEnabled else { return work(self) }
        lockOwner.set(origin)
        work(self)
        lockOwner.clear()
    }

    /// Runs brief work if the connection is free; callers that request it meanwhile wait.
    ///
    /// - Returns: Whether the work ran.
    func ifFree(_ work: () -> Void) -> Bool {
        isChecking.store(true, ordering: .sequentiallyConsistent)
        defer { isChecking.store(false, ordering: .sequentiallyConsistent) }
        return mutex.withLockIfAvailable { _ in work() } != nil
    }

    // MARK: - Closing

    /// Closes the connection permanently.
    func close() {
        mutex.withLock { _ in
            endRead()
            isClosed = true
            (insertStatements, updateStatements) = ([:], [:])
            faultReaders = Array(repeating: nil, count: faultReaders.count)
            sqlite.close()
        }
    }

    /// Checks that the store is open.
    ///
    /// Called under the lock.
    ///
    /// - Throws: ``StoreError`` if the store was closed.
    func checkOpen() throws(StoreError) {
        guard isClosed else { return }
        throw StoreError(
            .storeRemoved,
            "The store '\(sqlite.path)' was removed from its coordinator, so it can no longer be read or saved to; add it again, and fetch its objects again."
        )
    }
}
