internal import FaultlineTrace

/// The number of events of each kind, and the number and time of the outermost ones.
///
/// Updated with every event, and moved to the counts of the process at its end.
struct KindCounts: Sendable {
    private struct One: Sendable {
        var events: UInt64 = 0
        var outermostEvents: UInt64 = 0
        var outermostTime: UInt64 = 0
    }

    private var counts = Array(repeating: One(), count: EventKind.highest + 1)

    mutating func add(_ event: TraceEvent) { counts[Int(event.kind.rawValue)].events &+= 1 }

    /// Adds an outermost event, which ``add(_:)`` has already counted.
    ///
    /// - Parameter time: The time that it took on its thread, in nanoseconds.
    mutating func addOutermost(_ event: TraceEvent, time: UInt64) {
        let kind = Int(event.kind.rawValue)
        counts[kind].outermostEvents &+= 1
        counts[kind].outermostTime &+= time
    }

    /// Moves all counts to the counts of a process.
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
