internal import FaultlineTrace

/// The sums of events that a page does not show one by one.
struct OmittedEvents {
    /// The number of equal parts of the trace's time for which events are summed.
    static let bins = 2048

    /// The events of one kind on one thread.
    struct Lane: Hashable {
        var thread: Int
        var kind: EventKind
    }

    let span: ClosedRange<UInt64>
    /// The time that the events took in each part of the trace, in nanoseconds.
    private(set) var times: [Lane: [UInt64]] = [:]
    private(set) var counts: [EventKind: UInt64] = [:]
    /// The duration of the longest of them, apart from those that take no time of their threads.
    private(set) var longest: UInt64 = 0

    init(span: ClosedRange<UInt64>) {
        self.span = span
    }

    var count: UInt64 { counts.values.reduce(0, +) }

    mutating func add(_ row: PageRow) {
        counts[row.kind, default: 0] += 1
        if !row.kind.isInstant { longest = max(longest, row.duration) }
        let length = Double(span.upperBound - span.lowerBound)
        let place = Double(row.start &- min(row.start, span.lowerBound)) / length * Double(Self.bins)
        let lane = Lane(thread: row.thread, kind: row.kind)
        times[lane, default: Array(repeating: 0, count: Self.bins)][min(Self.bins - 1, Int(place))] &+= row.duration
    }

    /// The lanes in a fixed order.
    var lanes: [Lane] { times.keys.sorted { ($0.thread, $0.kind.rawValue) < ($1.thread, $1.kind.rawValue) } }
}
