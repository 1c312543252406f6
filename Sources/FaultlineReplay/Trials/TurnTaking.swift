/// Measures two ways of doing the same in turns: ABBA, so that neither gains from the machine's getting slower or faster.
struct TurnTaking {
    /// How often each is measured, at least and at most.
    static let rounds = 12...40
    /// Nanoseconds after which no further round is begun, once there are enough of them.
    static let enough: UInt64 = 2_000_000_000
    /// Nanoseconds after which even the fewest rounds that say something are enough.
    static let limit: UInt64 = 20_000_000_000
    static let fewestRounds = 6

    static func measure(
        before: () throws -> Timing, after: () throws -> Timing
    ) rethrows -> [(before: Timing, after: Timing)] {
        // What is read from the disk is in memory afterwards.
        _ = try before()
        _ = try after()
        let start = TrialClock.wall.now
        var measured: [(before: Timing, after: Timing)] = []
        while measured.count < rounds.upperBound {
            let time = TrialClock.wall.now - start
            if measured.count >= rounds.lowerBound, time > enough { break }
            if measured.count >= fewestRounds, time > limit { break }
            if measured.count.isMultiple(of: 2) {
                let first = try before()
                measured.append((first, try after()))
            } else {
                let first = try after()
                measured.append((try before(), first))
            }
        }
        return measured
    }
}
