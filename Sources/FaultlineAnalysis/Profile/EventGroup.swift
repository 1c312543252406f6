public import FaultlineTrace

/// A group of events that did the same from the same call site.
public struct EventGroup: Sendable {
    /// The properties that the events of a group share.
    public struct Key: Sendable, Hashable {
        /// The subject of the events.
        public enum Subject: Sendable, Hashable {
            /// A fetch request without its values.
            case shape(ShapeEntry)
            /// An entity, by name.
            case entity(String)
            /// A relationship, by the name of its entity and its own name.
            case relationship(entity: String, name: String)
            /// A statement's text.
            case statement(String)
            /// The entities that were saved or merged, in alphabetical order.
            case saved([String])
            /// The resource of a wait, or another subject with a name of its own.
            case named(String)
            /// A subject that the trace does not have.
            case unknown
        }

        public var kind: EventKind
        public var subject: Subject
        /// The type of a fault, or `nil` for other kinds.
        public var faultType: TraceEvent.Fault.FaultType?
        /// The source of a fault's data, or `nil` for other kinds.
        public var source: TraceEvent.Fault.Source?
        /// The type of a statement, or `nil` for other kinds.
        public var statementType: TraceEvent.Statement.StatementType?
        /// The call site.
        ///
        /// A fault or a batch has the line that caused it, and a fetch or a save has its own.
        public var site: CallSite?
        /// For a batch, the line of its fetch.
        ///
        /// `nil` for other kinds.
        public var fetchSite: CallSite?
    }

    public internal(set) var key: Key
    /// The durations of the events, in nanoseconds.
    public internal(set) var durations = Distribution()
    /// The durations without waits for a CPU, if those were recorded, in nanoseconds.
    public var ownDurations: Distribution { ownTime.times(durations) }
    /// The time span of the events.
    var span = TimeSpan()
    fileprivate(set) var ownTime = OwnTime()
    /// The time that no child event accounts for, in nanoseconds.
    public var selfTime: UInt64 { UInt64(max(0, netTime)) }
    /// The time on the main thread, in nanoseconds.
    public internal(set) var mainThreadTime: UInt64 = 0
    public internal(set) var counts = Counts()
    /// The number of events without a duration in the trace.
    ///
    /// They are not in ``durations``.
    public internal(set) var untimed: UInt64 = 0
    /// The number of events without a row count in the trace.
    public internal(set) var uncounted: UInt64 = 0

    /// The sum of durations minus the time of child events.
    ///
    /// It is signed, because an event's children can be counted before it.
    var netTime: Int64 = 0

    public var count: UInt64 { durations.count &+ untimed }
    public var totalTime: UInt64 { durations.total }

    init(_ key: Key) {
        self.key = key
    }

    /// Adds faults that the row cache filled.
    ///
    /// Each of them counts with their mean time, rounded so that the sum is theirs.
    mutating func add(_ hits: TraceEvent.CacheHits, _ event: TraceEvent) {
        durations.record(sum: hits.time, of: hits.hits)
        span.add(event)
        counts.rows &+= hits.filled
        counts.bytes &+= hits.bytes
        counts.cacheHits &+= hits.hits
        if event.isMainThread { mainThreadTime &+= hits.time }
    }

    /// Adds the duration and the time span of an event.
    mutating func addTime(of event: TraceEvent) {
        ownTime.record(event, beside: durations)
        durations.record(event.duration)
        span.add(event)
    }
}

extension EventGroup: KeyedSum {
    static let parts: [SumPart<EventGroup>] = [
        .sum("mainThreadTime", \.mainThreadTime),
        // The own times come first: their merge needs the durations from before the merge.
        OwnTime.part("ownTime", \.ownTime), .part("durations", \.durations), .part("span", \.span),
        .part("netTime", \.netTime),
        .part("counts", \.counts), .sum("untimed", \.untimed), .sum("uncounted", \.uncounted),
    ]
}
