package import FaultlineTrace

/// The durations of events of one kind, in four classes for each power of two.
///
/// The first events of a run prepare statements and read pages that later events find in memory. Quantiles show the
/// cost of the later ones.
package struct Speeds: Sendable, Hashable {
    /// The events of each class that ``number(of:)`` gives.
    package var classes: [UInt32: TripSum] = [:]

    package init() {}

    package var count: UInt64 { classes.values.reduce(0) { $0 &+ $1.trips } }

    /// The total time, in nanoseconds.
    package var time: UInt64 { classes.values.reduce(0) { $0 &+ $1.time } }

    package mutating func add(_ duration: UInt64) {
        classes[Self.number(of: duration), default: TripSum()].add(duration)
    }

    /// The class of a duration: four for each power of two.
    static func number(of duration: UInt64) -> UInt32 {
        guard duration > 3 else { return UInt32(duration) }
        let power = 63 - duration.leadingZeroBitCount
        return UInt32(4 * power) + UInt32(truncatingIfNeeded: (duration >> UInt64(power - 2)) & 3)
    }

    /// The total time, in nanoseconds, if no event of the slowest tenth took longer than the slowest of the others.
    package var typicalTime: Double {
        let all = count
        var (left, time, slowest) = (all - all / 10, 0.0, 0.0)
        for (trips, mean) in ordered where left > 0 {
            let taken = min(left, trips)
            time += mean * Double(taken)
            slowest = mean
            left -= taken
        }
        return min(time + slowest * Double(all / 10), Double(self.time))
    }

    /// A quantile of the durations, in nanoseconds: the mean of the class that contains it.
    package func quantile(_ share: Double) -> Double {
        let wanted = max(1, (share * Double(count)).rounded(.up))
        var seen = 0.0
        for (trips, mean) in ordered {
            seen += Double(trips)
            if seen >= wanted { return mean }
        }
        return 0
    }

    /// The number of events and the mean duration of each class, the quickest first.
    private var ordered: [(trips: UInt64, mean: Double)] {
        classes.ordered(on: \.key).map { ($1.trips, Double($1.time) / Double(max(1, $1.trips))) }
    }
}

extension Speeds: Summed, StartsEmpty {
    package static let parts: [SumPart<Speeds>] = [.part("classes", \.classes)]
}

/// Trips to the store, and their time.
package struct TripSum: Sendable, Hashable {
    package var trips: UInt64 = 0
    /// In nanoseconds.
    package var time: UInt64 = 0

    package init() {}

    package mutating func add(_ duration: UInt64) {
        trips &+= 1
        time &+= duration
    }
}

extension TripSum: Summed, StartsEmpty {
    package static let parts: [SumPart<TripSum>] = [.sum("trips", \.trips), .sum("time", \.time)]
}

/// One of the slowest events of a group.
package struct EventSample: Sendable, Hashable {
    package var process: UInt32
    /// The event's number in its process.
    package var event: EventID
    /// In nanoseconds.
    package var duration: UInt64

    package init(process: UInt32, event: EventID, duration: UInt64) {
        (self.process, self.event, self.duration) = (process, event, duration)
    }
}
