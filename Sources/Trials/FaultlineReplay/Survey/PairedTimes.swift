import FaultlineFindings

/// The CPU times of two ways of doing the same, measured alternately (ABBA).
///
/// With CPU time, other work on the machine makes no difference. Pages of a copy are already in memory.
package struct PairedTimes {
    /// The median time of one execution, in nanoseconds.
    package let before: Double
    package let after: Double
    /// The median of the rounds' ratios, after to before, and its confidence interval: of at least 95 %, or the smallest
    /// and the largest of at most six rounds.
    package let ratio: Double
    package let low: Double
    package let high: Double

    /// - Parameters:
    ///   - rounds: The times of each round, in nanoseconds. Must not be empty.
    ///   - executions: The number of executions in a round.
    package init(_ rounds: [(before: Double, after: Double)], executions: Int = 1) {
        let ratios = rounds.map { max(1, $0.after) / max(1, $0.before) }.sorted()
        let count = Double(ratios.count)
        // Order statistics around the median, by the normal approximation of the binomial distribution.
        let position = max(0, Int((count - 1.96 * count.squareRoot()) / 2))
        (ratio, low, high) = (ratios[ratios.count / 2], ratios[position], ratios[ratios.count - 1 - position])
        before = rounds.map(\.before).sorted()[rounds.count / 2] / Double(executions)
        after = rounds.map(\.after).sorted()[rounds.count / 2] / Double(executions)
    }

    /// The minimum and maximum number of rounds.
    private static let rounds = 7...25
    /// The minimum number of rounds if one is long, the nanoseconds that count as long, and the nanoseconds after which
    /// the minimum is enough.
    private static let minimumRounds = 5
    private static let long: UInt64 = 60_000_000
    private static let enough: UInt64 = 300_000_000
    /// The minimum nanoseconds of one measurement.
    ///
    /// Shorter work is repeated.
    private static let grain: UInt64 = 400_000

    /// Measures both ways.
    ///
    /// - Parameter count: The number of executions that each closure performs.
    init<Failure: Error>(
        count executions: Int = 1, before first: () throws(Failure) -> Void,
        after second: () throws(Failure) -> Void
    ) throws(Failure) {
        try self.init(count: executions) { (repetitions) throws(Failure) in
            try Self.time(repetitions, first)
        } timingAfter: { (repetitions) throws(Failure) in
            try Self.time(repetitions, second)
        }
    }

    /// Measures both ways with closures that measure themselves, because only a part of their work counts.
    ///
    /// - Parameters:
    ///   - executions: The number of executions in a repetition.
    ///   - first: Repeats the work, and returns the nanoseconds of the part that counts.
    init<Failure: Error>(
        count executions: Int, timingBefore first: (_ repetitions: Int) throws(Failure) -> UInt64,
        timingAfter second: (_ repetitions: Int) throws(Failure) -> UInt64
    ) throws(Failure) {
        // The first runs read pages and make plans.
        _ = try first(1)
        _ = try second(1)
        let one = try first(1)
        let other = try second(1)
        let repetitions = Int(Self.grain / max(1, min(one, other, Self.grain))) + 1
        let fewest = one + other > Self.long ? Self.minimumRounds : Self.rounds.lowerBound
        var pairs: [(before: Double, after: Double)] = []
        let start = TrialClock.threadTime()
        while pairs.count < Self.rounds.upperBound {
            if pairs.count >= fewest, TrialClock.threadTime() - start > Self.enough { break }
            let isFirstBefore = pairs.count.isMultiple(of: 2)
            let early = isFirstBefore ? try first(repetitions) : try second(repetitions)
            let late = isFirstBefore ? try second(repetitions) : try first(repetitions)
            let times = isFirstBefore ? (early, late) : (late, early)
            pairs.append((Double(times.0), Double(times.1)))
        }
        self.init(pairs, executions: repetitions * executions)
    }

    private static func time<Failure: Error>(
        _ repetitions: Int, _ body: () throws(Failure) -> Void
    ) throws(Failure) -> UInt64 {
        let start = TrialClock.threadTime()
        for _ in 0..<repetitions { try body() }
        return TrialClock.threadTime() - start
    }

    /// Whether the change makes the work faster, beyond chance and by enough to matter.
    var isFaster: Bool { ratio <= 0.8 && high < 0.95 }

    /// Whether the change may well make the work slower.
    ///
    /// The limits are wide, so a change that costs nothing is not taken for a slowdown.
    var isSlower: Bool { ratio > 1.1 || high > 1.3 }

    /// Both times as a phrase: `1.20 ms instead of 40.0 ms`.
    var words: Wording { "\(duration: after) instead of \(duration: before)" }
}

extension DatabaseFile {
    /// The most rows to insert in one round.
    private static let insertedRows = 300

    /// Times the insertion of a row into a table that has row IDs with an index, before, and without it, after.
    ///
    /// The database is left as it is. Foreign keys must be off.
    ///
    /// - Parameter index: The index in SQL.
    /// - Throws: ``ReplayError`` with SQLite's message, as if a trigger cannot run.
    func insertTimes(_ table: String, in database: String = "main", without index: String) throws -> PairedTimes {
        let of = [table, database].map(Self.literal).joined(separator: ", ")
        let columns = try rows("SELECT name FROM pragma_table_xinfo(\(of)) WHERE hidden = 0 ORDER BY cid")
            .map { Self.quoted($0[0].text) }.joined(separator: ", ")
        let (name, sample) = (Self.qualified(table, in: database), "temp.faultline_rows")
        try run("DROP TABLE IF EXISTS \(sample)")
        try run(
            "CREATE TEMP TABLE faultline_rows AS SELECT rowid AS faultline_key, \(columns) FROM \(name) "
                + "ORDER BY random() LIMIT \(Self.insertedRows)")
        defer { try? run("DROP TABLE IF EXISTS \(sample)") }
        func insert(without dropped: Bool) throws -> UInt64 {
            try run("SAVEPOINT faultline")
            defer { for end in ["ROLLBACK TO", "RELEASE"] { try? run("\(end) faultline") } }
            if dropped { try run("DROP INDEX \(index)") }
            try run("DELETE FROM \(name) WHERE rowid IN (SELECT faultline_key FROM \(sample))")
            let start = TrialClock.threadTime()
            try run("INSERT INTO \(name) (rowid, \(columns)) SELECT faultline_key, \(columns) FROM \(sample)")
            return TrialClock.threadTime() - start
        }
        return try PairedTimes(count: max(1, Int(number("SELECT count(*) FROM \(sample)")))) { repetitions in
            try (0..<repetitions).reduce(0) { time, _ in time + (try insert(without: false)) }
        } timingAfter: { repetitions in
            try (0..<repetitions).reduce(0) { time, _ in time + (try insert(without: true)) }
        }
    }
}
