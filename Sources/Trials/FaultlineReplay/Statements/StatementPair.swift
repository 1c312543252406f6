import FaultlineFindings
import FaultlineRules

/// A statement's work with and without a change, which is measured alternately.
struct StatementPair {
    /// Runs of one way of doing the work.
    struct Side {
        /// The number of statements that run.
        var trips: UInt64
        /// Does the work, and returns the number of rows.
        var run: () throws -> UInt64
        /// The copy on which it runs.
        var file: DatabaseFile
        /// Whether the work's writes are undone after each run.
        var isUndone = false
    }

    /// The maximum time of one run, in nanoseconds.
    ///
    /// A recorded run may have found fewer rows than a drawn value does.
    private static let limit: UInt64 = 3_000_000_000

    var before: Side
    var after: Side
    /// The folder of a copy of its own, which is removed with the pair.
    var folder: ScratchFolder?
    /// The number of recorded runs that each round replays.
    var operations: UInt64
    var notes: [String] = []
    /// The clock.
    ///
    /// Transactions wait for the disk, but statements that read a copy do not.
    var clock = TrialClock.thread
    /// Whether the runs return rows that can be compared with the recorded ones.
    var comparesRows = true
    /// Whether both sides return as many rows.
    var keepsRows = true

    /// The ratio of replayed to recorded rows, either way, beyond which the work is not the recorded one.
    private static let largestDifference = 4.0
    /// The number of rows up to which a difference is ignored.
    private static let fewRows = 20.0

    /// - Throws: ``Untriable`` if the runs find many more or fewer rows than in the trace.
    private func compare(_ found: UInt64, _ change: StatementChange, _ weight: Double) throws {
        let rows = Double(found) * weight, recorded = Double(change.rows)
        let (less, more) = (min(rows, recorded), max(rows, recorded))
        guard comparesRows, more > Self.fewRows * weight, more > Self.largestDifference * max(1, less) else { return }
        throw Untriable(
            "Its runs find \(Phrase.count(UInt64(min(rows, 1e15)), "row")) here, but found \(Phrase.count(change.rows)) when they were "
                + "recorded: this is not the same work.")
    }

    /// Measures both sides alternately.
    func measure(_ change: StatementChange) throws -> (TrialMeasurement, notes: [String]) {
        let recorded = max(operations, change.executions)
        let weight = Double(recorded) / Double(max(1, operations))
        var found = (before: UInt64(0), after: UInt64(0))
        func time(_ side: Side, _ rows: inout UInt64) throws -> Timing {
            var timing = Timing(clock)
            if side.isUndone { try side.file.run("BEGIN") }
            defer { if side.isUndone { try? side.file.run("ROLLBACK") } }
            do {
                rows = try side.file.limitingQueries(to: Self.limit) { try timing.step(weight: weight, side.run) }
            } catch  where side.file.wasInterrupted {
                throw Untriable(
                    "Its runs take more than 3 seconds on the copy, far longer than when they were recorded.")
            }
            return timing
        }
        _ = try time(before, &found.before)
        try compare(found.before, change, weight)
        _ = try time(after, &found.after)
        if keepsRows, found.before != found.after {
            throw Untriable(
                "With the change it finds \(Phrase.count(found.after, "row")) instead of \(Phrase.count(found.before)): this is "
                    + "not the same work.")
        }
        let rounds = try TurnTaking.measure(
            before: { try time(before, &found.before) }, after: { try time(after, &found.after) })
        let measurement = TrialMeasurement(
            operations: operations, recordedOperations: recorded, rounds: rounds.count,
            time: .init(rounds.map { ($0.before.total, $0.after.total) }),
            pause: .init(rounds.map { ($0.before.longest, $0.after.longest) }),
            before: .init(trips: before.trips, rows: found.before), after: .init(trips: after.trips, rows: found.after))
        return (measurement, notes)
    }
}
