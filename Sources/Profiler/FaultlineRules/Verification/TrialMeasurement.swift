package import FaultlineFindings

/// The cost of work with and without a change, measured alternately.
package struct TrialMeasurement: Sendable, Hashable {
    /// A time before and after a change, in nanoseconds, with the 95 % confidence ranges of the medians.
    ///
    /// Two medians determine all three figures: that of the time before, and that of the rounds' ratios of after to
    /// before. The gain is therefore always the difference of before and after.
    package struct Figure: Sendable, Hashable {
        package var before: Saving.Range
        package var after: Saving.Range
        /// The saved time, or a negative one if the change costs time.
        package var gain: Saving.Range

        /// - Parameter rounds: The times before and after, measured alternately.
        package init(_ rounds: [(before: Double, after: Double)]) {
            before = .median(of: rounds.map(\.before))
            let ratio = Saving.Range.median(of: rounds.map { $0.after / max(1, $0.before) })
            let before = before.median
            after = Saving.Range(
                median: before * ratio.median, low: before * ratio.low, high: before * ratio.high)
            gain = Saving.Range(
                median: before - after.median, low: before - after.high, high: before - after.low)
        }
    }

    /// The counts of one run, which are exact; 0 for migrations, which are not counted.
    package struct Counts: Sendable, Hashable {
        package var trips: UInt64
        package var rows: UInt64

        package init(trips: UInt64, rows: UInt64) {
            self.trips = trips
            self.rows = rows
        }
    }

    /// The number of rounds, each of which measures both variants.
    package var rounds: Int
    /// The number of fetches, saves or migrations that each round replays, and the number in the trace.
    package var operations: UInt64
    package var recordedOperations: UInt64
    /// The time in the store of all operations of the trace, extrapolated from the replayed ones.
    ///
    /// CPU time for fetches, and elapsed time for saves and migrations.
    package var time: Figure
    /// The longest step that makes a program wait: a fetch, or access to a row.
    package var pause: Figure
    package var before: Counts
    package var after: Counts

    package init(
        operations: UInt64, recordedOperations: UInt64, rounds: Int, time: Figure, pause: Figure, before: Counts,
        after: Counts
    ) {
        self.operations = operations
        self.recordedOperations = recordedOperations
        self.rounds = rounds
        self.time = time
        self.pause = pause
        self.before = before
        self.after = after
    }
}

extension Saving.Range {
    /// The median of values, with a range that contains the true median with at least 95 % confidence.
    ///
    /// The range is between two of the sorted values, and holds for any distribution.
    package static func median(of values: [Double]) -> Saving.Range {
        let sorted = values.sorted()
        guard let first = sorted.first, let last = sorted.last else { return .none }
        let middle = sorted.count / 2
        let median = sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
        let rank = rank(of: sorted.count)
        guard rank > 0 else { return Saving.Range(median: median, low: first, high: last) }
        return Saving.Range(median: median, low: sorted[rank - 1], high: sorted[sorted.count - rank])
    }

    /// The rank, from either end, beyond which the median lies with 97.5 % confidence, or 0 if there are too few
    /// values.
    private static func rank(of count: Int) -> Int {
        // Each value is as likely to be below the median as above it.
        var probability = 1.0
        for _ in 0..<count { probability /= 2 }
        var (tail, rank) = (0.0, 0)
        while rank < count {
            tail += probability
            guard tail <= 0.025 else { break }
            probability *= Double(count - rank) / Double(rank + 1)
            rank += 1
        }
        return rank
    }
}
