/// What came of trying a finding's change on a copy of a store.
public struct Trial: Sendable, Hashable {
    public enum Outcome: Sendable, Hashable {
        /// The change saves what was expected of it.
        case confirmed
        /// It saves more.
        case more
        /// It saves less, but something.
        case less
        /// It saves nothing, or so little that it cannot be told from nothing though much was expected: the finding is
        /// withdrawn.
        case withdrawn
        /// What was expected is too little to be told from nothing.
        case unclear
        /// It could not be tried; why, in a sentence.
        case notTried(String)
    }

    public let finding: Finding
    public let outcome: Outcome
    /// `nil`: it was not tried.
    public let measurement: TrialMeasurement?
    /// What the finding expected of the measured figure, in the machine's own time.
    public let expected: Saving.Range?
    /// What is to be known of the trial, a sentence each.
    public let notes: [String]

    package init(_ finding: Finding, notTried reason: String) {
        self.finding = finding
        outcome = .notTried(reason)
        (measurement, expected, notes) = (nil, nil, [])
    }

    /// Judges what was measured.
    ///
    /// - Parameter recorded: What the operations took in the trace, in nanoseconds; 0: not known.
    package init(_ finding: Finding, _ measurement: TrialMeasurement, recorded: Double, notes: [String]) {
        self.finding = finding
        self.measurement = measurement
        // Another machine, or a program that was built without optimisation, takes its own time for the same work.
        let pace = recorded > 0 ? measurement.time.before.median / recorded : 1
        let claimed = finding.saving.pause ?? finding.saving.time
        let expected = Saving.Range(
            median: claimed.median * pace, low: claimed.low * pace, high: claimed.high * pace)
        self.expected = expected
        let figure = finding.saving.pause == nil ? measurement.time : measurement.pause
        outcome = Self.judge(figure.gain, expected)
        self.notes = notes + Self.remark(pace, isKnown: recorded > 0)
    }

    /// What was measured of what the finding is about: the pause where it promises a shorter one, or else the time.
    public var figure: TrialMeasurement.Figure? {
        measurement.map { finding.saving.pause == nil ? $0.time : $0.pause }
    }

    private static func judge(_ gain: Saving.Range, _ expected: Saving.Range) -> Outcome {
        guard gain.low > 0 else { return gain.high < expected.low || gain.high <= 0 ? .withdrawn : .unclear }
        if gain.low > expected.high { return .more }
        return gain.high < expected.low ? .less : .confirmed
    }

    /// How much slower or faster the work is here, where that makes a difference.
    private static func remark(_ pace: Double, isKnown: Bool) -> [String] {
        guard isKnown else { return ["The trace does not tell what the work took."] }
        guard pace < 0.8 || pace > 1.25 else { return [] }
        return [
            "The same work takes \(Phrase.decimal(pace, places: 2)) × as long here as in the trace; what is expected is "
                + "given in this time."
        ]
    }
}

/// What work took with and without a change, each tried in turns with the other.
public struct TrialMeasurement: Sendable, Hashable {
    /// A time before and after, in nanoseconds: medians, and the range in which they lie with 95 % certainty.
    public struct Figure: Sendable, Hashable {
        public var before: Saving.Range
        public var after: Saving.Range
        /// Of the differences of neighbours; negative: the change costs time.
        public var gain: Saving.Range

        /// - Parameter rounds: What it took before and after, in turns.
        package init(_ rounds: [(before: Double, after: Double)]) {
            before = .median(of: rounds.map(\.before))
            after = .median(of: rounds.map(\.after))
            gain = .median(of: rounds.map { $0.before - $0.after })
        }
    }

    /// Counts of one run, which do not wobble.
    public struct Counts: Sendable, Hashable {
        public var trips: UInt64
        public var rows: UInt64

        package init(trips: UInt64, rows: UInt64) {
            self.trips = trips
            self.rows = rows
        }
    }

    /// How often each of the two was measured.
    public var rounds: Int
    /// Fetches or saves that were done again in each round, and how many of them the trace has.
    public var operations: UInt64
    public var recordedOperations: UInt64
    /// The time of all operations of the trace, extrapolated from those that were done again.
    public var time: Figure
    /// The longest of the steps at which a program waits: a fetch, or taking out a row.
    public var pause: Figure
    public var before: Counts
    public var after: Counts

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
    /// The median of values, and the range in which that of all there could be lies with at least 95 % certainty, however
    /// they are distributed: between two of the values in their order.
    package static func median(of values: [Double]) -> Saving.Range {
        let sorted = values.sorted()
        guard let first = sorted.first, let last = sorted.last else { return .none }
        let middle = sorted.count / 2
        let median = sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
        let rank = rank(of: sorted.count)
        guard rank > 0 else { return Saving.Range(median: median, low: first, high: last) }
        return Saving.Range(median: median, low: sorted[rank - 1], high: sorted[sorted.count - rank])
    }

    /// The place, from either end, behind which the median lies with 97.5 % certainty; 0: there are too few values.
    private static func rank(of count: Int) -> Int {
        // Each value is below the median as likely as above.
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

extension Analysis {
    /// What the operations that a finding's change is about took in the trace, in nanoseconds.
    package func recordedTime(of finding: Finding) -> Double {
        let fetches = finding.remedy?.fetches ?? []
        guard !fetches.isEmpty else { return finding.claims.reduce(0) { $0 + $1.balance } }
        let known = Set(fetches)
        let faults = profile.faults.reduce(0) { $0 + (known.contains($1.key.fetch) ? Double($1.evidence.time) : 0) }
        return known.reduce(faults) { $0 + BatchSizeRule.claim($1, profile).balance }
    }
}
