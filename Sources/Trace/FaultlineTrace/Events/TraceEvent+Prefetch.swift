// Made by "make schema" from faultline_events.h. Do not edit.

extension TraceEvent {
    /// The cost of prefetching one key path with a fetch or a batch.
    public struct Prefetch: Sendable, Hashable {
        /// The index of the key path among those that the shape prefetches.
        public var path: UInt64
        /// Round trips to SQLite.
        public var trips: UInt64
        /// Rows that were read, excluding those in the row cache.
        public var rows: UInt64
        /// Bytes of their column values.
        public var bytes: UInt64
        /// The duration, in nanoseconds.
        public var duration: UInt64

        /// An entry with every number zero but those given.
        public init(
            path: UInt64 = 0,
            trips: UInt64 = 0,
            rows: UInt64 = 0,
            bytes: UInt64 = 0,
            duration: UInt64 = 0
        ) {
            self.path = path
            self.trips = trips
            self.rows = rows
            self.bytes = bytes
            self.duration = duration
        }
    }
}

extension TraceEvent.Prefetch {
    /// The entry that stands in a list as these words.
    init(_ words: UnsafeBufferPointer<UInt64>) {
        path = words[0]
        trips = words[1]
        rows = words[2]
        bytes = words[3]
        duration = words[4]
    }

    /// The words that stand for it in a list.
    var words: [UInt64] {
        [path, trips, rows, bytes, duration]
    }
}
