extension ManagedObjectContext {
    /// The state of the store's data that the context is pinned to; `nil`: it reads what there is.
    ///
    /// A child reads what its ``parent`` reads.
    public var queryGenerationToken: QueryGenerationToken? { pinned.map { QueryGenerationToken($0) } }

    /// Pins the context to a state of the store's data: whatever others save, fetches and faults give what was there
    /// then, and no fault fails because its row is gone.
    ///
    /// With ``QueryGenerationToken/current`` that is what there is now; with the ``queryGenerationToken`` of another
    /// context the two read the same. A save, a merge and a reset of the context take it on to what there is then; saving
    /// objects that others have changed meanwhile is a conflict like any other. Objects that the context has already keep
    /// their values until they are refreshed.
    ///
    /// A pinned context has a connection and a row cache of its own. As long as it is pinned, SQLite's write-ahead log
    /// keeps what was written since (https://www.sqlite.org/wal.html#avoiding_excessively_large_wal_files), so a context
    /// that lives long is to be taken on, or unpinned, now and then.
    ///
    /// - Parameter token: `nil` to read what there is again.
    /// - Throws: ``StoreError`` if no connection can be had, a store has no write-ahead log, or the context has a
    ///   ``parent``. The context then stays as it is.
    public func setQueryGeneration(from token: QueryGenerationToken?) throws {
        checkQueue()
        if let parent {
            throw StoreError(
                .invalidRequest,
                "Pinning the context '\(name)' to a state of the store is refused because it reads what its parent '\(parent.name)' reads; pin the parent that has none itself."
            )
        }
        guard let token else {
            pinned = nil
            return
        }
        noticeStores()
        pinned = try token.snapshot ?? PinnedSnapshot(of: stores)
    }

    /// Takes a pinned context on to what there is now.
    func takeOn() {
        guard pinned != nil, parent == nil else { return }
        do throws(StoreError) {
            pinned = try PinnedSnapshot(of: stores)
        } catch {
            observeReadError(error)
        }
    }
}
