package import FaultlineTrace

/// A fetch that faults, batches and a use summary may still refer to.
package struct OpenFetch: Sendable {
    /// The index in the tables.
    package var index: Int
    package var rows: UInt64
    var limit: UInt64
    var offset: UInt64
    package var batchSize: UInt32
    package var scope: EventID
    package var start: UInt64
    /// The rows that were loaded: all rows of an unbatched fetch, or those of the loaded batches.
    package var loadedRows: UInt64
    /// The time of the fetch and its batches, in nanoseconds.
    var time: UInt64
    /// The number of loaded batches.
    package var batches: UInt64 = 0
    /// Whether the program has released the result.
    package var isClosed = false
    /// Whether the fetch's own statement has arrived.
    var hasStatement = false
    /// Objects that saves wrote although the program had read nothing of them.
    var unread = UnreadRows()
    /// Whether the fetch compared objects with unsaved changes, which a batch request would miss.
    var hasPending = false
    /// The number of rows that evidence has already counted.
    package var countedRows: [EvidenceReference: UInt64] = [:]
}
