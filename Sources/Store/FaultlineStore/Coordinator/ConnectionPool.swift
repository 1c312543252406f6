import FaultlineRecorder
import FaultlineTrace
import Synchronization

/// The connections that read a store, and the rows that they have read.
///
/// With a write-ahead log, each of them can read while another writes (https://www.sqlite.org/wal.html#concurrency).
/// The first connection is used while it is free, so a program that does one thing at a time has only one. A further
/// one is opened when a reader would have to wait, and stays open.
final class ConnectionPool: Sendable {
    let first: StoreConnection
    let rows: RowCache
    private let epoch: ReadEpoch
    /// The maximum number of connections besides the first.
    private let limit: Int
    private let readers = Mutex<[StoreConnection]>([])
    private let isClosed = Atomic<Bool>(false)
    private let turns = Atomic<UInt64>(0)

    /// Creates a pool.
    ///
    /// - Parameters:
    ///   - first: A connection whose rows and epoch the other connections share.
    ///   - readers: The maximum number of connections to open besides it.
    init(_ first: StoreConnection, readers: Int) {
        self.first = first
        rows = first.rows
        epoch = first.epoch
        limit = max(0, readers)
    }

    /// Reads on a free connection, or waits for one.
    ///
    /// Calls must not be nested.
    ///
    /// - Parameters:
    ///   - origin: The reader, for the events of its own wait and of those who wait for it.
    ///   - body: Receives the connection.
    func read<R>(
        for origin: TraceOrigin = TraceOrigin(), _ body: (StoreConnection) throws(StoreError) -> R
    ) throws(StoreError) -> R {
        var outcome = WorkOutcome<R>()
        outcome.fill { outcome in
            func work(_ connection: StoreConnection) { outcome.pointee.run(on: connection, body) }
            if !first.lockIfFree(for: origin, work), !readElsewhere(for: origin, work) { wait(for: origin, work) }
        }
        return try outcome.get()
    }

    /// Reads on a connection that is busy, once it is free.
    ///
    /// The first connection also writes, which may take longer than reading.
    private func wait(for origin: TraceOrigin, _ work: (StoreConnection) -> Void) {
        let readers = opened
        let turn = Int(turns.add(1, ordering: .relaxed).newValue % UInt64(max(1, readers.count)))
        let chosen = readers.isEmpty ? first : readers[turn]
        chosen.lock(for: origin, readers.isEmpty ? .coordinator : .connection, work)
    }

    /// Reads on a connection other than the first, if one is free or can be opened.
    private func readElsewhere(for origin: TraceOrigin, _ work: (StoreConnection) -> Void) -> Bool {
        for reader in opened where reader.lockIfFree(for: origin, work) { return true }
        return open()?.lockIfFree(for: origin, work) ?? false
    }

    private var opened: [StoreConnection] { limit > 0 ? readers.withLock { $0 } : [] }

    /// Opens a connection; `nil` if the limit is reached or opening fails.
    private func open() -> StoreConnection? {
        guard limit > 0, !isClosed.load(ordering: .relaxed), readers.withLock({ $0.count }) < limit,
            let reader = try? first.store.openReader(rows: rows, epoch: epoch)
        else { return nil }
        return readers.withLock { readers in
            // Another thread may have opened one in the meantime.
            guard readers.count < limit, !isClosed.load(ordering: .relaxed) else { return nil }
            readers.append(reader)
            return reader
        }
    }

    /// Ends the read transactions of all free connections.
    func finishBursts() {
        for connection in [first] + opened { connection.finishIfFree() }
    }

    /// Makes every read that begins later see what others have written.
    func finishReading() {
        epoch.advance()
        finishBursts()
    }

    /// Closes all connections, and prevents opening more.
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

/// A number that all connections of a pool check before they read.
final class ReadEpoch: Sendable {
    private let number = Atomic<UInt64>(0)

    var current: UInt64 { number.load(ordering: .acquiring) }

    func advance() { number.add(1, ordering: .acquiringAndReleasing) }
}
