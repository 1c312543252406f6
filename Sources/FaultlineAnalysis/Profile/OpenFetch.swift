internal import FaultlineTrace

/// A fetch that faults, batches and a use summary may still refer to.
struct OpenFetch: Sendable {
    /// Its place in the tables.
    var index: Int
    var rows: UInt64
    var limit: UInt64
    var offset: UInt64
    var batchSize: UInt32
    var scope: EventID
    var start: UInt64
    /// Rows that were loaded: of an unbatched fetch all, of a batched one those of its batches.
    var loadedRows: UInt64
    /// What fetching it and loading its batches took, in nanoseconds.
    var time: UInt64
    /// Batches that were loaded.
    var batches: UInt64 = 0
    /// Whether the program has released the result.
    var isClosed = false
    /// Whether its own statement has come.
    var hasStatement = false
    /// Objects that saves wrote although the program had read nothing of them.
    var unread = UnreadRows()
    /// Whether objects with unsaved changes were compared for it, of which a batch request knows nothing.
    var hasPending = false
    /// Rows that were counted already, by the evidence that counted them.
    var countedRows: [EvidenceReference: UInt64] = [:]
}
