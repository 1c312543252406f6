/// A snapshot of the stores' data.
///
/// A context that is pinned to it with ``ManagedObjectContext/setQueryGeneration(from:)`` reads only that snapshot.
public struct QueryGenerationToken: Sendable {
    private enum State: Sendable {
        case current
        case snapshot(PinnedSnapshot)
    }

    private let state: State

    /// The state when the token is used, not when it is created.
    public static let current = QueryGenerationToken(state: .current)

    private init(state: State) {
        self.state = state
    }

    init(_ snapshot: PinnedSnapshot) {
        state = .snapshot(snapshot)
    }

    /// The snapshot; `nil` if one is taken when the token is used.
    var snapshot: PinnedSnapshot? {
        if case .snapshot(let snapshot) = state { snapshot } else { nil }
    }
}

extension QueryGenerationToken: Hashable {
    /// Whether both stand for the same generation.
    public static func == (left: QueryGenerationToken, right: QueryGenerationToken) -> Bool {
        left.snapshot === right.snapshot
    }

    /// Feeds the parts that `==` compares to a hasher.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(snapshot.map { ObjectIdentifier($0) })
    }
}

/// Read transactions on separate connections, one per store, with the rows that were read in them.
///
/// SQLite's snapshot API could take any connection back to a state, but distributions leave it out
/// (`SQLITE_ENABLE_SNAPSHOT`, https://www.sqlite.org/c3ref/snapshot.html). A transaction that stays open has the same
/// effect.
final class PinnedSnapshot: Sendable {
    /// The stores, which must outlive the connections.
    private let stores: [SQLStore]
    private let pools: [ConnectionPool]

    init(of stores: [SQLStore]) throws(StoreError) {
        self.stores = stores
        var pools: [ConnectionPool] = []
        for store in stores { pools.append(try Self.pool(of: store)) }
        self.pools = pools
    }

    /// The connections that read a store; a store that was added later is read in its current state.
    func pool(of store: SQLStore) -> ConnectionPool {
        pools.first { $0.first.store === store } ?? store.pool
    }

    private static func pool(of store: SQLStore) throws(StoreError) -> ConnectionPool {
        guard store.hasWriteAheadLog else {
            throw StoreError(
                .unsupportedStore,
                "Pinning a context to the state of '\(store.path)' needs the write-ahead log, which the store does not use; open it writable once to enable it."
            )
        }
        let rows = RowCache(
            store.entities, limit: store.description.rowCacheLimit, recorder: store.recorder)
        let connection = try store.openReader(rows: rows, epoch: ReadEpoch())
        try connection.pin()
        return ConnectionPool(connection, readers: 0)
    }
}

extension ManagedObjectContext {
    /// The snapshot that the context is pinned to; `nil` if it reads the current data.
    ///
    /// A child reads from the snapshot of its ``parent``.
    public var queryGenerationToken: QueryGenerationToken? { pinned.map { QueryGenerationToken($0) } }

    /// Pins the context to a snapshot of the stores' data.
    ///
    /// Whatever others save, fetches and faults return the data of the snapshot, and no fault fails because its row was
    /// deleted.
    ///
    /// ``QueryGenerationToken/current`` takes a snapshot of the current data. With the ``queryGenerationToken`` of
    /// another context, both contexts read the same snapshot. A save, a merge and a reset of the context move it to a
    /// new snapshot. Saving objects that others have changed in the meantime is a conflict as usual. Objects that the
    /// context already has keep their values until they are refreshed.
    ///
    /// A pinned context reads each store through a separate connection and row cache. While it is pinned, SQLite's
    /// write-ahead log keeps everything that is written
    /// (https://www.sqlite.org/wal.html#avoiding_excessively_large_wal_files). So pin a long-lived context again, or
    /// unpin it, from time to time.
    ///
    /// - Parameter token: The snapshot; `nil` to read the current data again.
    /// - Throws: ``StoreError`` if no connection can be opened, a store has no write-ahead log, or the context has a
    ///   ``parent``. The context then stays as it is.
    public func setQueryGeneration(from token: QueryGenerationToken?) throws {
        checkQueue()
        if let parent {
            throw StoreError(
                .invalidRequest,
                "Pinning the context '\(name)' to a state of the store is refused, because it reads from its parent '\(parent.name)'; pin the ancestor without a parent."
            )
        }
        guard let token else {
            pinned = nil
            return
        }
        updateStoresIfChanged()
        pinned = try token.snapshot ?? PinnedSnapshot(of: stores)
    }

    /// Moves a pinned context to a snapshot of the current data.
    func advanceSnapshot() {
        guard pinned != nil, parent == nil else { return }
        do throws(StoreError) {
            pinned = try PinnedSnapshot(of: stores)
        } catch {
            observeReadError(error)
        }
    }
}
