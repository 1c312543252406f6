internal import CTraceSchema

extension TraceEvent {
    /// What loading one key path along with a fetch or a batch took.
    public struct Prefetch: Sendable, Hashable {
        /// Its place in ``ShapeEntry/prefetch``.
        public var path: UInt64
        public var trips: UInt64
        /// Rows that were read: those that the row cache held are not.
        public var rows: UInt64
        /// Bytes of their column values.
        public var bytes: UInt64
        /// In nanoseconds.
        public var duration: UInt64

        public init(path: UInt64, trips: UInt64, rows: UInt64, bytes: UInt64, duration: UInt64) {
            self.path = path
            self.trips = trips
            self.rows = rows
            self.bytes = bytes
            self.duration = duration
        }

        /// Key paths of a fetch that are told; what further ones took is in the sums alone.
        package static var maximumPaths: Int { Int(FL_PREFETCHES) }
    }

    /// A fetch request that was executed.
    public struct Fetch: Sendable, Hashable {
        /// What a fetch returned.
        public enum ResultType: UInt32, Sendable, Hashable, CaseIterable {
            case objects, objectIDs, count, dictionaries
        }

        public var entity: DictionaryID = 0
        /// The request with its values taken out; see ``ShapeEntry``.
        public var shape: DictionaryID = 0
        /// A keyed hash of the request's values: equal for equal values within one recording, and nothing else.
        public var parameters: UInt64 = 0
        /// The same for each of the shape's terms, in their order (see ``ShapeEntry/terms``), and one more for what is
        /// compared behind the last of them.
        public var operands: [UInt64] = []
        /// The request's values as JSON, from left to right (``NameEntry``); 0: the trace was not to have them, or they are
        /// too long.
        public var values: DictionaryID = 0
        /// The fetch limit; 0: none.
        public var limit: UInt32 = 0
        public var offset: UInt32 = 0
        /// The batch size that was asked for; 0: everything at once.
        public var batchSize: UInt32 = 0
        public var resultType: ResultType = .objects
        /// Rows that matched (of a count request: the count; of one for dictionaries: how many there are).
        public var rows: UInt32 = 0
        /// Round trips to SQLite, those of prefetching included.
        public var trips: UInt32 = 0
        /// Bytes of column values that were read, those of prefetching not included.
        public var bytes: UInt64 = 0
        /// Rows that prefetching read.
        public var prefetchedRows: UInt32 = 0
        /// Bytes of column values that prefetching read.
        public var prefetchedBytes: UInt64 = 0
        /// Time waiting for the store, in nanoseconds.
        public var wait: UInt64 = 0
        /// Time preparing the statement, in nanoseconds.
        public var prepare: UInt64 = 0
        /// Time stepping through rows and copying them into the row cache, in nanoseconds.
        public var step: UInt64 = 0
        /// Time making objects of rows, in nanoseconds.
        public var materialise: UInt64 = 0
        /// Time comparing objects with unsaved changes in memory, in nanoseconds; older recorders count it as
        /// ``materialise``.
        public var pending: UInt64 = 0
        /// Rows of this fetch that the row cache held already.
        public var cacheHits: UInt32 = 0
        /// Rows of this fetch that the row cache did not hold.
        public var cacheMisses: UInt32 = 0
        /// Objects with unsaved changes that the predicate was compared with in memory.
        public var pendingObjects: UInt32 = 0
        /// SQLite's result code if the fetch failed; 0: it did not.
        public var error: UInt32 = 0
        /// What prefetching took, for each key path that had to be read; older recorders do not tell it.
        public var prefetches: [Prefetch] = []

        public init() {}
    }

    /// A batch of a batched fetch that was loaded when a row of it was first asked for.
    public struct Batch: Sendable, Hashable {
        /// The fetch that the batch belongs to.
        public var fetch: EventID = 0
        public var entity: DictionaryID = 0
        public var shape: DictionaryID = 0
        /// The index of the batch's first row in the fetch's result.
        public var firstIndex: UInt32 = 0
        public var rows: UInt32 = 0
        /// Round trips to SQLite, those of prefetching included.
        public var trips: UInt32 = 0
        /// Bytes of column values that were read, those of prefetching not included.
        public var bytes: UInt64 = 0
        /// Rows that prefetching read.
        public var prefetchedRows: UInt32 = 0
        /// Bytes of column values that prefetching read.
        public var prefetchedBytes: UInt64 = 0
        /// Rows of this batch that the row cache held already.
        public var cacheHits: UInt32 = 0
        /// SQLite's result code if loading failed; 0: it did not.
        public var error: UInt32 = 0
        /// What prefetching took, for each key path that had to be read; older recorders do not tell it.
        public var prefetches: [Prefetch] = []

        public init() {}

        /// Batches whose objects a result holds, the ones used last.
        package static var retained: Int { 4 }
    }

    /// What a program did with the result of one fetch, up to the time when it let go of it.
    public struct Use: Sendable, Hashable {
        /// Whether the program had let go of the result when the summary was written.
        public enum State: UInt32, Sendable, Hashable, CaseIterable {
            case closed, open
        }

        /// Rows that were touched one after the other.
        public struct Run: Sendable, Hashable {
            public var first: UInt64
            public var rows: UInt64

            public init(first: UInt64, rows: UInt64) {
                self.first = first
                self.rows = rows
            }
        }

        /// How many rows were touched within one window, and how often that happened.
        ///
        /// A window is one instance of a scope, or, outside any scope, what lies between two pauses.
        public struct Window: Sendable, Hashable {
            /// The kind of the scope, or `nil` for a window between pauses.
            public var scope: Scope.Kind?
            public var rows: UInt64
            public var times: UInt64

            public init(scope: Scope.Kind?, rows: UInt64, times: UInt64) {
                self.scope = scope
                self.rows = rows
                self.times = times
            }
        }

        /// What was loaded and read of one property.
        public struct Property: Sendable, Hashable {
            /// The property's place in ``EntityEntry/properties``.
            public var index: UInt64
            /// Rows in which it was read.
            public var rowsRead: UInt64
            /// Rows in which it was loaded.
            public var rowsLoaded: UInt64
            /// Bytes of its values that were loaded.
            public var bytes: UInt64
            /// Rows in which its value has at least 16 KiB.
            public var largeRows: UInt64

            public init(index: UInt64, rowsRead: UInt64, rowsLoaded: UInt64, bytes: UInt64, largeRows: UInt64) {
                self.index = index
                self.rowsRead = rowsRead
                self.rowsLoaded = rowsLoaded
                self.bytes = bytes
                self.largeRows = largeRows
            }
        }

        /// The fetch that is summed up.
        public var fetch: EventID = 0
        public var entity: DictionaryID = 0
        public var shape: DictionaryID = 0
        public var state: State = .closed
        public var batchSize: UInt32 = 0
        /// Rows that matched.
        public var rows: UInt32 = 0
        /// Rows that were loaded, batch by batch or at once.
        public var loadedRows: UInt32 = 0
        /// Bytes of column values in the loaded rows.
        public var bytes: UInt64 = 0
        /// Distinct rows that were taken out of the result.
        public var touchedRows: UInt32 = 0
        /// Times that a row was taken out of the result.
        public var touches: UInt32 = 0
        /// Times that a batch was loaded; one batch can be loaded again after it was let go of.
        public var batchesLoaded: UInt32 = 0
        /// Times that the result was asked for its count or whether it is empty.
        public var countAsked: UInt32 = 0
        /// Those among them that asked for no more than whether it is empty.
        public var emptinessAsked: UInt32 = 0
        /// Times that the result was asked for the identities of its rows.
        public var identitiesAsked: UInt32 = 0
        /// Rows whose object was changed or deleted.
        public var modifiedRows: UInt32 = 0
        /// When a row was first touched, in nanoseconds since the trace began; 0: never.
        public var firstUse: UInt64 = 0
        /// When a row was last touched for the first time in its window, in nanoseconds since the trace began; 0: never.
        public var lastUse: UInt64 = 0
        /// Runs that did not fit the summary.
        public var runsLost: UInt32 = 0
        public var runs: [Run] = []
        public var windows: [Window] = []
        public var properties: [Property] = []

        public init() {}
    }
}
