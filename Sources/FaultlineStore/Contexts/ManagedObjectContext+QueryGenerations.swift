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
    /// - Parameter token: the snapshot; `nil` to read the current data again.
    /// - Throws: ``StoreError`` if no connection can be opened, a store has no write-ahead log, or the context has a
    ///   ``parent``. The context then stays as it is.
    public func setQueryGeneration(from token: QueryGenerationToken?) throws {
        checkQueue()
        if let parent {
            throw StoreError(
                .invalidRequest,
                "Pinning the context '\(name)' to a state of the store is refused, because it reads what its parent '\(parent.name)' reads; pin the ancestor without a parent."
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
