/// The durations of events of one kind, in four classes for each power of two.
///
/// The first events of a run prepare statements and read pages that later events find in memory. Quantiles show the
/// cost of the later ones.
struct Speeds: Sendable, Hashable {
    private var classes: [UInt32: FaultEvidence.Place] = [:]

    var count: UInt64 { classes.values.reduce(0) { $0 &+ $1.trips } }

    /// The total time, in nanoseconds.
    var time: UInt64 { classes.values.reduce(0) { $0 &+ $1.time } }

    mutating func add(_ duration: UInt64) {
        classes[FaultEvidence.speed(of: duration), default: FaultEvidence.Place()].add(duration)
    }

    /// The total time, in nanoseconds, if no event of the slowest tenth took longer than the slowest of the others.
    var typicalTime: Double {
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
    func quantile(_ share: Double) -> Double {
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
        classes.sorted { $0.key < $1.key }.map { ($1.trips, Double($1.time) / Double(max(1, $1.trips))) }
    }
}

extension Speeds: Summed, StartsEmpty {
    static let parts: [SumPart<Speeds>] = [.part("classes", \.classes)]
}
