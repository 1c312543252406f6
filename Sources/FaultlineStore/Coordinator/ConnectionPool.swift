import FaultlineRecorder
import FaultlineTrace
import Synchronization

/// The connections that read one state of a store, and the rows that they have read.
///
/// With a write-ahead log each of them reads while another writes (https://www.sqlite.org/wal.html#concurrency). The
/// first connection is used as long as it is free, so that a program that does one thing at a time has one; another is
/// opened when somebody would have to wait, and stays.
final class ConnectionPool: Sendable {
    let first: StoreConnection
    let rows: RowCache
    private let epoch: ReadEpoch
    /// Connections beside the first.
    private let limit: Int
    private let readers = Mutex<[StoreConnection]>([])
    private let isClosed = Atomic<Bool>(false)
    private let turns = Atomic<UInt64>(0)

    /// - Parameters:
    ///   - first: a connection of its own, whose rows and epoch the others share.
    ///   - readers: how many connections may be opened beside it.
    init(_ first: StoreConnection, readers: Int) {
        self.first = first
        rows = first.rows
        epoch = first.epoch
        limit = max(0, readers)
    }

    /// Reads on a connection that nobody uses right now, and waits for one if there is none.
    ///
    /// Not to be nested.
    ///
    /// - Parameters:
    ///   - origin: who asks, for those who wait meanwhile, and for the event of a wait of its own.
    ///   - body: gets the connection.
    func read<R>(
        for origin: TraceOrigin = TraceOrigin(), _ body: (StoreConnection) throws(StoreError) -> R
    ) throws(StoreError) -> R {
        var outcome = WorkOutcome<R>()
        func work(_ connection: StoreConnection) { outcome.run(on: connection, body) }
        if !first.lockIfFree(for: origin, work), !readBeside(for: origin, work) {
            // All are busy. Whoever writes on the first connection may take longer than those that read.
            let readers = opened
            let turn = Int(turns.add(1, ordering: .relaxed).newValue % UInt64(max(1, readers.count)))
            let chosen = readers.isEmpty ? first : readers[turn]
            chosen.lock(for: origin, readers.isEmpty ? .coordinator : .connection, work)
        }
        return try outcome.get()
    }

    /// Reads on a connection beside the first one, if any is free or can be opened.
    private func readBeside(for origin: TraceOrigin, _ work: (StoreConnection) -> Void) -> Bool {
        for reader in opened where reader.lockIfFree(for: origin, work) { return true }
        return open()?.lockIfFree(for: origin, work) ?? false
    }

    private var opened: [StoreConnection] { limit > 0 ? readers.withLock { $0 } : [] }

    /// One more connection; `nil`: there are enough, or none can be had.
    private func open() -> StoreConnection? {
        guard limit > 0, !isClosed.load(ordering: .relaxed), readers.withLock({ $0.count }) < limit,
            let reader = try? first.store.openReader(rows: rows, epoch: epoch)
        else { return nil }
        return readers.withLock { readers in
            // Another thread may have been faster.
            guard readers.count < limit, !isClosed.load(ordering: .relaxed) else { return nil }
            readers.append(reader)
            return reader
        }
    }

    /// Ends the read transactions of the connections that nobody uses right now.
    func finishBursts() {
        for connection in [first] + opened { connection.finishIfFree() }
    }

    /// Lets every read that begins from now on see what others have written.
    func finishReading() {
        epoch.advance()
        finishBursts()
    }

    /// Closes all connections, and opens no more.
    func close() {
        let closing = readers.withLock { readers in
            isClosed.store(true, ordering: .relaxed)
            defer { readers = [] }
            return readers
        }
        for reader in closing { reader.close() }
        first.close()
    }
}

/// A number that all connections of a pool look at before they read.
final class ReadEpoch: Sendable {
    private let number = Atomic<UInt64>(0)

    var current: UInt64 { number.load(ordering: .acquiring) }

    func advance() { number.add(1, ordering: .acquiringAndReleasing) }
}
