internal import FaultlineTrace

/// The durations of events without the time their threads waited for a CPU.
///
/// They are kept apart from the plain durations only if some event waited.
struct OwnTime: Sendable {
    /// `nil` if no event waited, and the durations are the same.
    private var own: Distribution?

    /// Records an event before it is added to `durations`.
    mutating func record(_ event: TraceEvent, beside durations: Distribution) {
        if event.runDelay > 0, own == nil { own = durations }
        own?.record(event.ownDuration)
    }

    /// The own times of the events with these durations.
    func times(_ durations: Distribution) -> Distribution { own ?? durations }

    /// A part of a group.
    ///
    /// It must precede the group's durations in the list of parts, because merging reads the durations before they are
    /// merged.
    static func part(
        _ name: String, _ path: any SumPart<EventGroup>.Path<OwnTime>
    ) -> SumPart<EventGroup> {
        SumPart(
            name: name,
            merge: { whole, other in
                guard whole[keyPath: path].own != nil || other[keyPath: path].own != nil else { return }
                var times = whole[keyPath: path].times(whole.durations)
                times.merge(other[keyPath: path].times(other.durations))
                whole[keyPath: path].own = times
            },
            store: { whole, words in whole[keyPath: path].own?.stored(&words) ?? .list([]) },
            restore: { whole, value, words in
                var times = Distribution()
                try times.restore(value, words)
                whole[keyPath: path].own = times
            }, divide: { $0[keyPath: path].own?.divide(by: $1) })
    }
}

/// The time from the first event of an operation to its last, in nanoseconds since the trace began.
///
/// The span of merged traces covers all of their spans.
package struct TimeSpan: Sendable, Hashable, Mergeable, StartsEmpty {
    private(set) var start: UInt64 = .max
    private(set) var end: UInt64 = 0

    package init() {}

    mutating func add(_ event: TraceEvent) {
        start = min(start, event.start)
        end = max(end, event.end)
    }

    /// The overlap of the two spans, as a share of the time from the earlier start to the later end: 0…1.
    package func overlap(_ other: TimeSpan) -> Double {
        let (first, last) = (max(start, other.start), min(end, other.end))
        let whole = max(end, other.end) &- min(start, other.start)
        return last > first && whole > 0 ? Double(last - first) / Double(whole) : 0
    }

    package mutating func merge(_ other: TimeSpan) {
        start = min(start, other.start)
        end = max(end, other.end)
    }

    package func stored(_ words: inout ProfileWords) -> StoredValue {
        start > end ? .list([]) : .list([StoredValue(start), StoredValue(end)])
    }

    package mutating func restore(_ value: StoredValue, _ words: ProfileWords) throws {
        let ends = try value.list(of: 2).map { try $0.count() }
        (start, end) = (ends[0], ends[1])
    }
}
