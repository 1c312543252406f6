// Made by "make schema" from faultline_events.h. Do not edit.

package import CTraceSchema

extension TraceEvent {
    /// A fetch request that was executed.
    public struct Fetch: Sendable, Hashable {
        /// The kind of result that a fetch returned.
        public enum ResultType: UInt32, Sendable, Hashable, CaseIterable {
            /// Objects.
            case objects
            /// The IDs of objects.
            case objectIDs
            /// The number of objects that match.
            case count
            /// Dictionaries of individual properties or of aggregates.
            case dictionaries
        }

        /// A keyed hash of the request's values.
        ///
        /// It only shows which values are equal within one recording.
        public var parameters: UInt64 = 0
        /// Bytes of column values that were read, excluding those of prefetching.
        public var bytes: UInt64 = 0
        /// Bytes of column values that prefetching read.
        public var prefetchedBytes: UInt64 = 0
        /// Time waiting for the store, in nanoseconds.
        public var wait: UInt64 = 0
        /// Time preparing the statement, in nanoseconds.
        public var prepare: UInt64 = 0
        /// Time stepping through rows and copying them into the row cache, in nanoseconds.
        public var step: UInt64 = 0
        /// Time creating objects from rows, in nanoseconds.
        public var materialise: UInt64 = 0
        /// Time comparing objects with unsaved changes in memory, in nanoseconds.
        ///
        /// Older recorders count it as `materialise`.
        public var pending: UInt64 = 0
        /// The entity of the request.
        public var entity: DictionaryID = 0
        /// The request without its values.
        public var shape: DictionaryID = 0
        /// The request's values as JSON, from left to right.
        ///
        /// 0 if the trace was recorded without them, or they are too long.
        public var values: DictionaryID = 0
        /// The fetch limit.
        ///
        /// 0 if there is none.
        public var limit: UInt32 = 0
        /// The fetch offset.
        public var offset: UInt32 = 0
        /// The batch size of the request.
        ///
        /// 0 if everything is loaded at once.
        public var batchSize: UInt32 = 0
        /// The kind of result that the fetch returned.
        public var resultType: ResultType = .objects
        /// Rows that matched.
        ///
        /// For a count request, the count; for dictionaries, their number.
        public var rows: UInt32 = 0
        /// Round trips to SQLite, including those of prefetching.
        public var trips: UInt32 = 0
        /// Rows that prefetching read.
        public var prefetchedRows: UInt32 = 0
        /// Rows of this fetch that were already in the row cache.
        public var cacheHits: UInt32 = 0
        /// Rows of this fetch that were not in the row cache.
        public var cacheMisses: UInt32 = 0
        /// Objects with unsaved changes that were compared with the predicate in memory.
        public var pendingObjects: UInt32 = 0
        /// SQLite's result code if the fetch failed.
        ///
        /// 0 if it did not.
        public var error: UInt32 = 0
        /// A keyed hash of the values of each term of the shape, in order, and one more for all terms beyond the limit.
        public var operands: [UInt64] = []
        /// The cost of prefetching each key path that had to be read.
        ///
        /// Empty in traces of older recorders.
        public var prefetches: [TraceEvent.Prefetch] = []

        /// Every number zero, every list empty.
        public init() {}
    }
}

extension TraceEvent.Fetch: EventRecord {
    package static var kind: EventKind { .fetch }

    /// The fields of a record of this kind.
    init(_ record: UnsafePointer<fl_event>) {
        let fields = record.pointee.fields.fetch
        parameters = fields.parameters
        bytes = fields.bytes
        prefetchedBytes = fields.prefetchedBytes
        wait = fields.wait
        prepare = fields.prepare
        step = fields.step
        materialise = fields.materialise
        pending = fields.pending
        entity = fields.entity
        shape = fields.shape
        values = fields.values
        limit = fields.limit
        offset = fields.offset
        batchSize = fields.batchSize
        resultType = TraceEvent.Fetch.ResultType(rawValue: fields.resultType) ?? .objects
        rows = fields.rows
        trips = fields.trips
        prefetchedRows = fields.prefetchedRows
        cacheHits = fields.cacheHits
        cacheMisses = fields.cacheMisses
        pendingObjects = fields.pendingObjects
        error = fields.error
        guard fields.operands > 0 || fields.prefetches > 0 else { return }
        var lists = ListReader(record)
        operands = lists.take(fields.operands, words: 1) { $0[0] }
        prefetches = lists.take(fields.prefetches, words: 5) { TraceEvent.Prefetch($0) }
    }

    /// The record of these fields.
    package var record: fl_fetch {
        var fields = fl_fetch()
        fields.parameters = parameters
        fields.bytes = bytes
        fields.prefetchedBytes = prefetchedBytes
        fields.wait = wait
        fields.prepare = prepare
        fields.step = step
        fields.materialise = materialise
        fields.pending = pending
        fields.entity = entity
        fields.shape = shape
        fields.values = values
        fields.limit = limit
        fields.offset = offset
        fields.batchSize = batchSize
        fields.resultType = resultType.rawValue
        fields.rows = rows
        fields.trips = trips
        fields.prefetchedRows = prefetchedRows
        fields.cacheHits = cacheHits
        fields.cacheMisses = cacheMisses
        fields.pendingObjects = pendingObjects
        fields.error = error
        fields.operands = UInt32(clamping: operands.count)
        fields.prefetches = UInt32(clamping: prefetches.count)
        return fields
    }

    /// The words of the lists that follow the record.
    package var words: [UInt64] {
        operands + prefetches.flatMap(\.words)
    }
}
