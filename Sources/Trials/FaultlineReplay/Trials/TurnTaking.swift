/// Measures two ways of doing the same alternately (ABBA), so neither gains when the machine gets slower or faster.
struct TurnTaking {
    /// The minimum and maximum number of rounds.
    static let rounds = 12...40
    /// The time in nanoseconds after which no further round begins, once the minimum is reached.
    static let enough: UInt64 = 2_000_000_000
    /// The time in nanoseconds after which ``minimumRounds`` are enough.
    static let limit: UInt64 = 20_000_000_000
    static let minimumRounds = 6

    static func measure(
        before: () throws -> Timing, after: () throws -> Timing
    ) rethrows -> [(before: Timing, after: Timing)] {
        // The first runs read pages from the disk into memory.
        _ = try before()
        _ = try after()
        let start = TrialClock.wall.now
        var measured: [(before: Timing, after: Timing)] = []
        while measured.count < rounds.upperBound {
            let time = TrialClock.wall.now - start
            if measured.count >= rounds.lowerBound, time > enough { break }
            if measured.count >= minimumRounds, time > limit { break }
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
