import FaultlineRecorder
import FaultlineTrace
import Foundation
import Synchronization

/// One of a store's connections, which one caller uses at a time, with the statements and the read transaction on it.
///
/// Everything that says "under the lock" is guarded by ``locked(for:_:)``.
final class StoreConnection: @unchecked Sendable {
    // What is not constant is only touched under the lock.
    let session: SQLSession
    let recorder: Recorder
    let log: SQLDebugLog
    /// Where the rows that are read here are kept.
    let rows: RowCache
    /// What a burst of reading is compared with before it goes on.
    let epoch: ReadEpoch
    // What uses a connection holds its store, by a context or a snapshot.
    @exclusivity(unchecked)
    private unowned(unsafe) var owner: SQLStore?
    private let mutex = Mutex(())
    private let lockOwner = LockOwner()
    /// How many wait for the connection.
    let waiting = Atomic<Int>(0)
    /// Whether the connection may be locked for no longer than ``ifFree(_:)``.
    private let isChecking = Atomic<Bool>(false)
    let reference = ConnectionReference()

    /// The epoch and the row cache's state when the burst began.
    @exclusivity(unchecked)
    var burst: (epoch: UInt64, rows: UInt64) = (0, 0)
    /// Whether ``endRead()`` has something to end.
    @exclusivity(unchecked)
    var isReading = false
    /// Statements that read since the connection was opened, to find out whether a burst of reading goes on.
    @exclusivity(unchecked)
    var reads: UInt64 = 0
    var isCheckScheduled = false
    /// Whether the transaction stays open.
    @exclusivity(unchecked)
    var isPinned = false
    /// Whether the store was closed.
    @exclusivity(unchecked)
    private var isClosed = false

    var insertStatements: [Int: SQLStatement] = [:]
    var updateStatements: [UpdateShape: SQLStatement] = [:]
    /// By entity, once one of its faults was read.
    @exclusivity(unchecked)
    var faultReaders: [FaultReader?]

    /// - Parameter entities: how many entities the store's model has.
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

    /// To be called once, before anybody else has this.
    func belong(to store: SQLStore) { owner = store }

    var store: SQLStore {
        @inline(__always) get { owner.unsafelyUnwrapped }
    }

    var sqlite: SQLConnection { session.connection }

    // MARK: - The lock

    /// Locks the connection while work is done.
    ///
    /// Not to be nested.
    ///
    /// - Parameter origin: who asks, for those who wait meanwhile, and for the event of a wait of its own.
    func locked<R>(
        for origin: TraceOrigin = TraceOrigin(), _ body: () throws(StoreError) -> R
    ) throws(StoreError) -> R {
        var outcome = WorkOutcome<R>()
        func work(_ connection: StoreConnection) { outcome.run(on: connection) { _ throws(StoreError) in try body() } }
        if !lockIfFree(for: origin, work) { lock(for: origin, .coordinator, work) }
        return try outcome.get()
    }

    /// Does work if nobody else has the connection.
    ///
    /// - Returns: whether it was done.
    func lockIfFree(for origin: TraceOrigin, _ work: (StoreConnection) -> Void) -> Bool {
        while true {
            let isChecked = isChecking.load(ordering: .sequentiallyConsistent)
            if mutex.withLockIfAvailable({ _ in own(origin, work) }) != nil { return true }
            // The end of a burst takes no time, and is no reason to go to another connection.
            guard isChecked || isChecking.load(ordering: .sequentiallyConsistent) else { return false }
            sched_yield()
        }
    }

    /// Waits for the connection and does work.
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

    /// Does work that takes no time if nobody else has the connection; whoever asks for it meanwhile waits for it.
    ///
    /// - Returns: whether it was done.
    func ifFree(_ work: () -> Void) -> Bool {
        isChecking.store(true, ordering: .sequentiallyConsistent)
        defer { isChecking.store(false, ordering: .sequentiallyConsistent) }
        return mutex.withLockIfAvailable { _ in work() } != nil
    }

    // MARK: - The end

    /// Closes the connection, for good.
    func close() {
        mutex.withLock { _ in
            endRead()
            isClosed = true
            (insertStatements, updateStatements) = ([:], [:])
            faultReaders = Array(repeating: nil, count: faultReaders.count)
            sqlite.close()
        }
    }

    /// Under the lock.
    ///
    /// - Throws: ``StoreError`` if the store was closed.
    func checkOpen() throws(StoreError) {
        guard isClosed else { return }
        throw StoreError(
            .storeRemoved,
            "The store '\(sqlite.path)' was removed from its coordinator, so that nothing can be read from it or saved to it; add it again, and fetch its objects anew."
        )
    }
}
