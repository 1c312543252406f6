public import FaultlineTrace

/// Events that did the same from the same place, summed up.
public struct EventGroup: Sendable {
    /// What the events of a group have in common.
    public struct Key: Sendable, Hashable {
        /// What the events were about.
        public enum Subject: Sendable, Hashable {
            /// A fetch request with its values taken out.
            case shape(ShapeEntry)
            /// An entity, by name.
            case entity(String)
            /// A relationship, by the name of its entity and its own.
            case relationship(entity: String, name: String)
            /// A statement's text.
            case statement(String)
            /// The entities that were saved or merged, in alphabetical order.
            case saved([String])
            /// What was waited for, or what else has a word of its own.
            case named(String)
            /// What the trace does not say.
            case unknown
        }

        public var kind: EventKind
        public var subject: Subject
        /// What was a fault; `nil` for other kinds.
        public var faultType: TraceEvent.Fault.FaultType?
        /// Where a fault's data came from; `nil` for other kinds.
        public var source: TraceEvent.Fault.Source?
        /// What a statement does; `nil` for other kinds.
        public var statementType: TraceEvent.Statement.StatementType?
        /// Where it happened: of a fault or a batch where it was caused, of a fetch or a save where it was asked for.
        public var site: CallSite?
        /// Where the fetch stands that a batch belongs to; `nil` for other kinds.
        public var fetchSite: CallSite?
    }

    public internal(set) var key: Key
    /// How long the events took, in nanoseconds.
    public internal(set) var durations = Distribution()
    /// How long they took without waiting for a CPU, where that is known, in nanoseconds.
    public var ownDurations: Distribution { ownTime.times(durations) }
    /// When they happened.
    var span = TimeSpan()
    fileprivate(set) var ownTime = OwnTime()
    /// Time that no event within them accounts for, in nanoseconds.
    public var selfTime: UInt64 { UInt64(max(0, netTime)) }
    /// Time on the main thread, in nanoseconds.
    public internal(set) var mainThreadTime: UInt64 = 0
    public internal(set) var counts = Counts()
    /// Events whose durations the trace does not tell; ``durations`` has none of them.
    public internal(set) var untimed: UInt64 = 0
    /// Events whose rows it does not tell.
    public internal(set) var uncounted: UInt64 = 0

    /// The sum of durations less what events within took.
    ///
    /// Signed, since an event's children can be counted before it.
    var netTime: Int64 = 0

    public var count: UInt64 { durations.count &+ untimed }
    public var totalTime: UInt64 { durations.total }

    init(_ key: Key) {
        self.key = key
    }

    /// Adds how long an event took and when.
    mutating func addTime(of event: TraceEvent) {
        ownTime.record(event, beside: durations)
        durations.record(event.duration)
        span.add(event)
    }
}

extension EventGroup: KeyedSum {
    static let parts: [SumPart<EventGroup>] = [
        .sum("mainThreadTime", \.mainThreadTime),
        // In this order: what the durations were before tells the rest of one side.
        OwnTime.part("ownTime", \.ownTime), .part("durations", \.durations), .part("span", \.span),
        .part("netTime", \.netTime),
        .part("counts", \.counts), .sum("untimed", \.untimed), .sum("uncounted", \.uncounted),
    ]
}
