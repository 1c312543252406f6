// Made by "make schema" from faultline_events.h. Do not edit.

package import CTraceSchema

extension TraceEvent {
    /// The program's use of one fetch's result until it released the result.
    public struct Use: Sendable, Hashable {
        /// Whether the program had released a result when its use was summarized.
        public enum State: UInt32, Sendable, Hashable, CaseIterable {
            /// The program had released it.
            case closed
            /// The program still held it.
            case open
        }

        /// Consecutive rows that were touched one after the other.
        public struct Run: Sendable, Hashable {
            /// The index of the first row.
            public var first: UInt64
            /// The number of rows.
            public var rows: UInt64

            /// An entry with every number zero but those given.
            public init(
                first: UInt64 = 0,
                rows: UInt64 = 0
            ) {
                self.first = first
                self.rows = rows
            }
        }

        /// A number of rows that were touched within one window, and the number of such windows.
        ///
        /// A window is one instance of a scope or, outside any scope, the time between two pauses.
        public struct Window: Sendable, Hashable {
            /// The kind of the scope.
            ///
            /// None for a window between two pauses.
            public var scopeKind: TraceEvent.Scope.Kind?
            /// Rows that were touched.
            public var rows: UInt64
            /// The number of such windows.
            public var times: UInt64

            /// An entry with every number zero but those given.
            public init(
                scopeKind: TraceEvent.Scope.Kind? = nil,
                rows: UInt64 = 0,
                times: UInt64 = 0
            ) {
                self.scopeKind = scopeKind
                self.rows = rows
                self.times = times
            }
        }

        /// The use of one property: where it was loaded, and where it was read.
        public struct Property: Sendable, Hashable {
            /// The index of the property among those of its entity.
            public var index: UInt64
            /// Rows in which it was read.
            public var rowsRead: UInt64
            /// Rows in which it was loaded.
            public var rowsLoaded: UInt64
            /// Bytes of its values that were loaded.
            public var bytes: UInt64
            /// Rows in which its value is at least 16 KiB.
            public var largeRows: UInt64

            /// An entry with every number zero but those given.
            public init(
                index: UInt64 = 0,
                rowsRead: UInt64 = 0,
                rowsLoaded: UInt64 = 0,
                bytes: UInt64 = 0,
                largeRows: UInt64 = 0
            ) {
                self.index = index
                self.rowsRead = rowsRead
                self.rowsLoaded = rowsLoaded
                self.bytes = bytes
                self.largeRows = largeRows
            }
        }

        /// The fetch whose use is summarized.
        public var fetch: EventID = 0
        /// Bytes of column values in the loaded rows.
        public var bytes: UInt64 = 0
        /// When a row was first touched, since the trace began, in nanoseconds.
        ///
        /// 0 if none was touched.
        public var firstUse: UInt64 = 0
        /// When a row was last touched for the first time in its window, since the trace began, in nanoseconds.
        ///
        /// 0 if none was touched.
        public var lastUse: UInt64 = 0
        /// The entity of the request.
        public var entity: DictionaryID = 0
        /// The request without its values.
        public var shape: DictionaryID = 0
        /// Whether the program had released the result when the event was written.
        public var state: State = .closed
        /// The batch size in force.
        ///
        /// 0 if there is none.
        public var batchSize: UInt32 = 0
        /// Rows that matched.
        public var rows: UInt32 = 0
        /// Rows that were loaded, batch by batch or at once.
        public var loadedRows: UInt32 = 0
        /// Distinct rows that the program accessed in the result.
        public var touchedRows: UInt32 = 0
        /// Number of accesses to rows in the result.
        public var touches: UInt32 = 0
        /// Number of batch loads.
        ///
        /// A batch that was released can be loaded again.
        public var batchesLoaded: UInt32 = 0
        /// Number of times that the program asked for the result's count or whether it is empty.
        public var countAsked: UInt32 = 0
        /// Of these, times that it asked only whether the result is empty.
        public var emptinessAsked: UInt32 = 0
        /// Number of times that the program asked for the IDs of the result's rows.
        public var identitiesAsked: UInt32 = 0
        /// Rows whose object was changed or deleted.
        public var modifiedRows: UInt32 = 0
        /// Runs that did not fit in the summary.
        public var runsLost: UInt32 = 0
        /// Consecutive rows that were touched one after the other.
        public var runs: [Run] = []
        /// The number of rows that were touched within one window.
        public var windows: [Window] = []
        /// The use of each property: where it was loaded, and where it was read.
        public var properties: [Property] = []

        /// Every number zero, every list empty.
        public init() {}
    }
}

extension TraceEvent.Use: EventRecord {
    package static var kind: EventKind { .use }

    /// The fields of a record of this kind.
    init(_ record: UnsafePointer<fl_event>) {
        let fields = record.pointee.fields.use
        fetch = fields.fetch
        bytes = fields.bytes
        firstUse = fields.firstUse
        lastUse = fields.lastUse
        entity = fields.entity
        shape = fields.shape
        state = TraceEvent.Use.State(rawValue: fields.state) ?? .closed
        batchSize = fields.batchSize
        rows = fields.rows
        loadedRows = fields.loadedRows
        touchedRows = fields.touchedRows
        touches = fields.touches
        batchesLoaded = fields.batchesLoaded
        countAsked = fields.countAsked
        emptinessAsked = fields.emptinessAsked
        identitiesAsked = fields.identitiesAsked
        modifiedRows = fields.modifiedRows
        runsLost = fields.runsLost
        guard fields.runs > 0 || fields.windows > 0 || fields.properties > 0 else { return }
        var lists = ListReader(record)
        runs = lists.take(fields.runs, words: 2) { TraceEvent.Use.Run($0) }
        windows = lists.take(fields.windows, words: 3) { TraceEvent.Use.Window($0) }
        properties = lists.take(fields.properties, words: 5) { TraceEvent.Use.Property($0) }
    }

    /// The record of these fields.
    package var record: fl_use {
        var fields = fl_use()
        fields.fetch = fetch
        fields.bytes = bytes
        fields.firstUse = firstUse
        fields.lastUse = lastUse
        fields.entity = entity
        fields.shape = shape
        fields.state = state.rawValue
        fields.batchSize = batchSize
        fields.rows = rows
        fields.loadedRows = loadedRows
        fields.touchedRows = touchedRows
        fields.touches = touches
        fields.batchesLoaded = batchesLoaded
        fields.countAsked = countAsked
        fields.emptinessAsked = emptinessAsked
        fields.identitiesAsked = identitiesAsked
        fields.modifiedRows = modifiedRows
        fields.runsLost = runsLost
        fields.runs = UInt32(clamping: runs.count)
        fields.windows = UInt32(clamping: windows.count)
        fields.properties = UInt32(clamping: properties.count)
        return fields
    }

    /// The words of the lists that follow the record.
    package var words: [UInt64] {
        runs.flatMap(\.words) + windows.flatMap(\.words) + properties.flatMap(\.words)
    }
}

extension TraceEvent.Use.Run {
    /// The entry that stands in a list as these words.
    init(_ words: UnsafeBufferPointer<UInt64>) {
        first = words[0]
        rows = words[1]
    }

    /// The words that stand for it in a list.
    var words: [UInt64] {
        [first, rows]
    }
}

extension TraceEvent.Use.Window {
    /// The entry that stands in a list as these words.
    init(_ words: UnsafeBufferPointer<UInt64>) {
        scopeKind =
            words[0] == 0
            ? nil : TraceEvent.Scope.Kind(rawValue: UInt32(truncatingIfNeeded: words[0] &- 1))
        rows = words[1]
        times = words[2]
    }

    /// The words that stand for it in a list.
    var words: [UInt64] {
        [scopeKind.map { UInt64($0.rawValue) + 1 } ?? 0, rows, times]
    }
}

extension TraceEvent.Use.Property {
    /// The entry that stands in a list as these words.
    init(_ words: UnsafeBufferPointer<UInt64>) {
        index = words[0]
        rowsRead = words[1]
        rowsLoaded = words[2]
        bytes = words[3]
        largeRows = words[4]
    }

    /// The words that stand for it in a list.
    var words: [UInt64] {
        [index, rowsRead, rowsLoaded, bytes, largeRows]
    }
}
