import FaultlineRecorder
import FaultlineTrace
import Synchronization

/// The connections of a store that read beside its first one.
///
/// With a write-ahead log each of them reads while another writes (https://www.sqlite.org/wal.html#concurrency). The
/// first connection is used as long as it is free, so that a program that does one thing at a time has one; another is
/// opened when somebody would have to wait, and stays.
final class ReaderPool: Sendable {
    let limit: Int
    private let readers = Mutex<[SQLStore]>([])
    private let isClosed = Atomic<Bool>(false)
    private let isUsable: Bool

    /// - Parameter limit: connections beside the first.
    init(limit: Int, isUsable: Bool) {
        self.limit = limit
        self.isUsable = isUsable && limit > 0
    }

    /// The connections that were opened.
    var opened: [SQLStore] { isUsable ? readers.withLock { $0 } : [] }

    /// Opens no more connections, and hands out those that there are.
    func close() -> [SQLStore] {
        readers.withLock { readers in
            isClosed.store(true, ordering: .relaxed)
            defer { readers = [] }
            return readers
        }
    }

    /// One more connection; `nil`: there are enough, or none can be had.
    func open(_ make: () throws -> SQLStore) -> SQLStore? {
        guard isUsable, !isClosed.load(ordering: .relaxed), readers.withLock({ $0.count }) < limit,
            let reader = try? make()
        else { return nil }
        return readers.withLock { readers in
            // Another thread may have been faster.
            guard readers.count < limit, !isClosed.load(ordering: .relaxed) else { return nil }
            readers.append(reader)
            return reader
        }
    }
}

extension SQLStore {
    /// Reads on a connection that nobody uses right now, and waits for one if there is none.
    ///
    /// Not to be nested.
    ///
    /// - Parameters:
    ///   - origin: who asks, for those who wait meanwhile, and for the event of a wait of its own.
    ///   - body: gets the store with that connection.
    func read<R>(
        for origin: TraceOrigin = TraceOrigin(), _ body: (SQLStore) throws(StoreError) -> R
    ) throws(StoreError) -> R {
        var outcome = WorkOutcome<R>()
        func work(_ store: SQLStore) { outcome.run(on: store, body) }
        if !lockIfFree(for: origin, work), !opened(for: origin, work) {
            // All are busy. Whoever writes on the first connection may take longer than those that read.
            let readers = pool.opened
            let turn = Int(turns.add(1, ordering: .relaxed).newValue % UInt64(max(1, readers.count)))
            let chosen = readers.isEmpty ? self : readers[turn]
            chosen.lock(for: origin, readers.isEmpty ? .coordinator : .connection, work)
        }
        return try outcome.get()
    }

    private func opened(for origin: TraceOrigin, _ work: (SQLStore) -> Void) -> Bool {
        for reader in pool.opened where reader.lockIfFree(for: origin, work) { return true }
        return pool.open { try SQLStore(readerOf: self) }?.lockIfFree(for: origin, work) ?? false
    }

    /// Ends the read transactions of the connections that nobody uses right now.
    func finishBursts() {
        for store in [self] + pool.opened { store.finishIfFree() }
    }

    /// Lets every read that begins from now on see what others have written.
    func finishReading() {
        epoch.advance()
        finishBursts()
    }
}

/// A number that all connections of a store look at before they read.
final class ReadEpoch: Sendable {
    private let number = Atomic<UInt64>(0)

    var current: UInt64 { number.load(ordering: .acquiring) }

    func advance() { number.add(1, ordering: .acquiringAndReleasing) }
}
