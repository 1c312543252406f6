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
    /// The time that the events took in each part of the trace, in nanoseconds; for samples, what they weigh.
    private(set) var times: [Lane: [UInt64]] = [:]
    private(set) var counts: [EventKind: UInt64] = [:]
    /// The duration of the longest of them, apart from those that take no time of their threads.
    private(set) var longest: UInt64 = 0

    init(span: ClosedRange<UInt64>) {
        self.span = span
    }

    var count: UInt64 { counts.values.reduce(0, +) }

    /// - Parameters:
    ///   - lane: The event's kind, and its thread's number in the page's tables.
    ///   - weight: The weight of a sample: CPU time or bytes. 0 for other events.
    mutating func add(_ lane: Lane, start: UInt64, duration: UInt64, weight: UInt64 = 0) {
        counts[lane.kind, default: 0] += 1
        if !lane.kind.isInstant { longest = max(longest, duration) }
        var sums = times.removeValue(forKey: lane) ?? Array(repeating: 0, count: Self.bins)
        defer { times[lane] = sums }
        let end = start &+ duration
        let first = bin(of: start)
        guard weight == 0 else { return sums[first] &+= weight }
        let last = bin(of: end)
        guard first < last else { return sums[first] &+= duration }
        // A long event fills all parts between its start and its end.
        let begin = Double(span.lowerBound)
        let length = (Double(span.upperBound) - begin) / Double(Self.bins)
        for bin in first...last {
            let from = max(Double(start), begin + Double(bin) * length)
            let to = min(Double(end), begin + Double(bin + 1) * length)
            sums[bin] &+= UInt64(max(0, to - from))
        }
    }

    /// The part of the trace that a time is in.
    private func bin(of time: UInt64) -> Int {
        let place = Double(time &- min(time, span.lowerBound)) / Double(span.upperBound - span.lowerBound)
        // A damaged trace has times far beyond its end.
        return min(Self.bins - 1, Int(min(1, place) * Double(Self.bins)))
    }

    /// The lanes in a fixed order.
    var lanes: [Lane] { times.keys.ordered { ($0.thread, $0.kind.rawValue) < ($1.thread, $1.kind.rawValue) } }
}

/// A share of some events that is equal throughout a trace, whenever it was made smaller.
struct EqualShare {
    /// Events whose rank is at most this one belong to it.
    private var greatest = UInt64.max

    /// Makes the share smaller, so that a number of events are left.
    ///
    /// - Parameter ranks: Those of all events; some may not belong to it.
    mutating func keep(_ number: Int, of ranks: [UInt64]) {
        let own = ranks.filter { $0 <= greatest }.sorted()
        guard number < own.count else { return }
        greatest = number > 0 ? own[number - 1] : 0
    }

    func contains(_ event: EventID, _ start: UInt64) -> Bool { Self.rank(event, start) <= greatest }

    /// A number that follows from an event's number and time, and says nothing about its place in the trace.
    static func rank(_ event: EventID, _ start: UInt64) -> UInt64 {
        // The finalizer of MurmurHash3, by which each bit depends on all: events of logs have no numbers.
        var bits = event &+ start &* 0x9E37_79B9_7F4A_7C15
        bits = (bits ^ bits >> 33) &* 0xFF51_AFD7_ED55_8CCD
        bits = (bits ^ bits >> 33) &* 0xC4CE_B9FE_1A85_EC53
        return bits ^ bits >> 33
    }
}
