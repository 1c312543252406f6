internal import FaultlineTrace

/// How many events of each kind there were, and how long those took that were part of no other.
///
/// Counted with every event, and put into the counts of the process when it has ended.
struct KindCounts: Sendable {
    private struct One: Sendable {
        var events: UInt64 = 0
        var outermostEvents: UInt64 = 0
        var outermostTime: UInt64 = 0
    }

    private var counts = Array(repeating: One(), count: EventKind.highest + 1)

    mutating func add(_ event: TraceEvent) { counts[Int(event.kind.rawValue)].events &+= 1 }

    /// Adds an event that is part of no other, and was added before.
    mutating func addOutermost(_ event: TraceEvent) {
        let kind = Int(event.kind.rawValue)
        counts[kind].outermostEvents &+= 1
        counts[kind].outermostTime &+= event.duration
    }

    /// Moves all of it to the counts of a process.
    mutating func move(to total: inout ProfileCounts) {
        for kind in EventKind.allCases {
            let one = counts[Int(kind.rawValue)]
            if one.events > 0 { total.events[kind, default: 0] &+= one.events }
            guard one.outermostEvents > 0 else { continue }
            total.outermostEvents[kind, default: 0] &+= one.outermostEvents
            total.outermostTime[kind, default: 0] &+= one.outermostTime
        }
        self = KindCounts()
    }
}
