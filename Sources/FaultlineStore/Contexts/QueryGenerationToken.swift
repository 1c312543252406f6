/// A state of a store's data, as it was at one time.
///
/// A context that is pinned to one with ``ManagedObjectContext/setQueryGeneration(from:)`` reads that state alone.
public struct QueryGenerationToken: Sendable {
    private enum State: Sendable {
        case current
        case snapshot(PinnedSnapshot)
    }

    private let state: State

    /// The state when the token is used, not when it is made.
    public static let current = QueryGenerationToken(state: .current)

    private init(state: State) {
        self.state = state
    }

    init(_ snapshot: PinnedSnapshot) {
        state = .snapshot(snapshot)
    }

    /// The snapshot; `nil`: one is to be taken.
    var snapshot: PinnedSnapshot? {
        if case .snapshot(let snapshot) = state { snapshot } else { nil }
    }
}

extension QueryGenerationToken: Hashable {
    public static func == (left: QueryGenerationToken, right: QueryGenerationToken) -> Bool {
        left.snapshot === right.snapshot
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(snapshot.map { ObjectIdentifier($0) })
    }
}

/// Read transactions on connections of their own, one a store, with the rows that were read in them.
///
/// SQLite's snapshot API would let any connection come back to a state, but distributions leave it out
/// (`SQLITE_ENABLE_SNAPSHOT`, https://www.sqlite.org/c3ref/snapshot.html); a transaction that stays open does the same.
final class PinnedSnapshot: Sendable {
    /// The stores, which are to outlive the connections.
    private let stores: [SQLStore]
    private let pools: [ConnectionPool]

    init(of stores: [SQLStore]) throws(StoreError) {
        self.stores = stores
        var pools: [ConnectionPool] = []
        for store in stores { pools.append(try Self.pool(of: store)) }
        self.pools = pools
    }

    /// What a store is read with; a store that was added later is read as it is.
    func pool(of store: SQLStore) -> ConnectionPool {
        pools.first { $0.first.store === store } ?? store.pool
    }

    private static func pool(of store: SQLStore) throws(StoreError) -> ConnectionPool {
        guard store.hasWriteAheadLog else {
            throw StoreError(
                .unsupportedStore,
                "Pinning a context to the state of '\(store.path)' needs the write-ahead log, which the store does not use; open it writable once, so that it does."
            )
        }
        let rows = RowCache(
            store.entities, limit: store.description.rowCacheLimit, recorder: store.recorder)
        let connection = try store.openReader(rows: rows, epoch: ReadEpoch())
        try connection.pin()
        return ConnectionPool(connection, readers: 0)
    }
}
