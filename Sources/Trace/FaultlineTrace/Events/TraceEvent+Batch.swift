// Made by "make schema" from faultline_events.h. Do not edit.

package import CTraceSchema

extension TraceEvent {
    /// A batch of a batched fetch, loaded when one of its rows was first accessed.
    public struct Batch: Sendable, Hashable {
        /// The fetch that the batch belongs to.
        public var fetch: EventID = 0
        /// Bytes of column values that were read, excluding those of prefetching.
        public var bytes: UInt64 = 0
        /// Bytes of column values that prefetching read.
        public var prefetchedBytes: UInt64 = 0
        /// Time waiting for the store, in nanoseconds.
        ///
        /// 0 in traces of older recorders.
        public var wait: UInt64 = 0
        /// Time preparing the statement, in nanoseconds.
        ///
        /// 0 in traces of older recorders.
        public var prepare: UInt64 = 0
        /// Time stepping through rows and copying them into the row cache, in nanoseconds.
        ///
        /// 0 in traces of older recorders.
        public var step: UInt64 = 0
        /// The entity of the request.
        public var entity: DictionaryID = 0
        /// The request without its values.
        public var shape: DictionaryID = 0
        /// The index of the batch's first row in the fetch's result.
        public var firstIndex: UInt32 = 0
        /// Rows that were loaded.
        public var rows: UInt32 = 0
        /// Round trips to SQLite, including those of prefetching.
        public var trips: UInt32 = 0
        /// Rows that prefetching read.
        public var prefetchedRows: UInt32 = 0
        /// Rows of this batch that were already in the row cache.
        public var cacheHits: UInt32 = 0
        /// SQLite's result code if loading failed.
        ///
        /// 0 if it did not.
        public var error: UInt32 = 0
        /// The cost of prefetching each key path that had to be read.
        ///
        /// Empty in traces of older recorders.
        public var prefetches: [TraceEvent.Prefetch] = []

        /// Every number zero, every list empty.
        public init() {}
    }
}

extension TraceEvent.Batch: EventRecord {
    package static var kind: EventKind { .batch }

    /// The fields of a record of this kind.
    init(_ record: UnsafePointer<fl_event>) {
        let fields = record.pointee.fields.batch
        fetch = fields.fetch
        bytes = fields.bytes
        prefetchedBytes = fields.prefetchedBytes
        wait = fields.wait
        prepare = fields.prepare
        step = fields.step
        entity = fields.entity
        shape = fields.shape
        firstIndex = fields.firstIndex
        rows = fields.rows
        trips = fields.trips
        prefetchedRows = fields.prefetchedRows
        cacheHits = fields.cacheHits
        error = fields.error
        guard fields.prefetches > 0 else { return }
        var lists = ListReader(record)
        prefetches = lists.take(fields.prefetches, words: 5) { TraceEvent.Prefetch($0) }
    }

    /// The record of these fields.
    package var record: fl_batch {
        var fields = fl_batch()
        fields.fetch = fetch
        fields.bytes = bytes
        fields.prefetchedBytes = prefetchedBytes
        fields.wait = wait
        fields.prepare = prepare
        fields.step = step
        fields.entity = entity
        fields.shape = shape
        fields.firstIndex = firstIndex
        fields.rows = rows
        fields.trips = trips
        fields.prefetchedRows = prefetchedRows
        fields.cacheHits = cacheHits
        fields.error = error
        fields.prefetches = UInt32(clamping: prefetches.count)
        return fields
    }

    /// The words of the lists that follow the record.
    package var words: [UInt64] {
        prefetches.flatMap(\.words)
    }
}
