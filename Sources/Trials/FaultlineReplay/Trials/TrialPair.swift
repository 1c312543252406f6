import FaultlineCounting
import FaultlineFindings
import FaultlineRecorder
import FaultlineRules
import FaultlineStore
import FaultlineTrace

/// Work with and without a change, which is measured alternately.
struct TrialPair {
    /// One of the two ways of doing the work.
    struct Side {
        var copy: StoreCopy
        /// Runs one-time work before the clock starts.
        var warmUp: (PersistentContainer) throws -> Void = { _ in }
        var run: (PersistentContainer, inout Timing) throws -> Void
    }

    var before: Side
    var after: Side
    var operations: UInt64
    var recorded: UInt64
    var notes: [String] = []
    /// The number of rows that the fetches found in the trace, or `nil` if no fetch is replayed.
    var rows: UInt64?
    var drawsValues = false
    /// The recorded trips for related objects, or `nil` if the change does not concern these.
    var relatedTrips: UInt64?
    /// The mean number of pages SQLite read from the file for the statement of a recorded fetch, or `nil` if they were
    /// not counted.
    var pageMisses: Double?
    /// The clock.
    ///
    /// Saves wait for the disk, but fetches from a copy do not.
    var clock = TrialClock.thread

    /// The ratio of replayed to recorded amounts, either way, beyond which the work is no longer the same.
    private static let largestDifference = 4.0
    /// The number of rows up to which a difference is ignored.
    private static let fewRows: UInt64 = 20

    /// Whether an amount here, such as rows or bytes, is so different from the recorded one that it is not the recorded work.
    static func isOtherWork(_ found: UInt64, recorded: UInt64) -> Bool {
        Double(max(found, recorded)) > largestDifference * max(1, Double(min(found, recorded)))
    }

    /// Returns a note about the number of rows that the fetches found, if it differs or the values were drawn.
    ///
    /// - Throws: ``Untriable`` if the numbers differ so much that it is not the recorded work.
    private func compare(_ found: UInt64) throws -> [String] {
        guard let recorded = rows else { return [] }
        if max(found, recorded) > Self.fewRows, Self.isOtherWork(found, recorded: recorded) {
            throw Untriable(
                "Its fetches find \(Phrase.count(found, "row")) here, but found \(Phrase.count(recorded)) when they "
                    + "were recorded: this is not the same work."
                    + (drawsValues
                        ? " The predicates' values were drawn from the copy; record with --values to try the program's."
                        : ""))
        }
        let comparison = "\(Phrase.count(found, "row")), the recorded ones \(Phrase.count(recorded))"
        if drawsValues {
            return ["The trace has no predicate values, so they were drawn from the copy; they match \(comparison)."]
        }
        return found == recorded ? [] : ["The fetches find \(comparison)."]
    }

    /// Returns a note if related objects are loaded far more often here than in the trace, because the program had them
    /// in its row cache.
    ///
    /// - Parameter trips: The trips of the replayed fetches, with an empty row cache.
    private func cacheNote(trips: UInt64) -> String? {
        guard let recordedTrips = relatedTrips else { return nil }
        let related = trips - min(trips, operations)
        let all = Double(related) * Double(recorded) / Double(max(1, operations))
        guard related > Self.fewRows, all > 2 * Double(recordedTrips) else { return nil }
        return
            "With an empty row cache, related objects take \(Phrase.count(related, "trip")) here, but took "
            + "\(Phrase.count(recordedTrips)) in the trace. So the times are those of a second run, whose row cache "
            + "has the objects."
    }

    /// The caches that are filled before each measured run.
    private enum Rehearsal {
        case none
        /// The pages, in SQLite's cache.
        case pages
        /// The pages and the rows.
        case rows
    }

    /// The counts of one run of a side.
    private struct Count {
        var counts: TrialMeasurement.Counts
        /// The number of rows that the fetches found.
        var found: UInt64
        var pageMisses: UInt64
    }

    private func count(_ side: Side, _ model: StoredModel) throws -> Count {
        let recorder = Recorder.memory(ringBytes: 8 << 20)
        let container = try side.copy.open(model, recorder)
        var timing = Timing(clock)
        let counted = try recorder.countingStore { try side.run(container, &timing) }.counts
        // Counts the pages of the fetches' own statements, each the first after its fetch, as a profile does.
        var fetches: Set<EventID> = []
        var misses: UInt64 = 0
        for event in recorder.events() {
            switch event.detail {
            case .fetch: fetches.insert(event.id)
            case .sql(let statement) where fetches.remove(event.parent) != nil: misses &+= UInt64(statement.pageMisses)
            default: break
            }
        }
        return Count(
            counts: .init(trips: UInt64(counted.trips), rows: UInt64(counted.rows)), found: timing.found,
            pageMisses: misses)
    }

    private func run(_ side: Side, _ model: StoredModel, _ rehearsal: Rehearsal) throws -> Timing {
        let container = try side.copy.open(model)
        try side.warmUp(container)
        if rehearsal != .none {
            var timing = Timing(clock)
            try side.run(container, &timing)
            if rehearsal == .pages { container.forgetRows() }
        }
        var timing = Timing(clock)
        try side.run(container, &timing)
        return timing
    }

    /// Measures both sides alternately.
    ///
    /// - Parameter model: The model of both copies.
    /// - Throws: ``Untriable`` if it is not the recorded work, or an error of the work.
    func measure(_ model: StoredModel) throws -> (TrialMeasurement, notes: [String]) {
        let counted = (before: try count(before, model), after: try count(after, model))
        var notes = try compare(counted.before.found)
        var rehearsal = Rehearsal.none
        if let pageMisses, 2 * pageMisses < Double(counted.before.pageMisses) / Double(max(1, operations)) {
            rehearsal = .pages
            notes.append(
                "When it was recorded, SQLite had most of these pages in its cache. So each run is repeated, and the "
                    + "second one is measured.")
        }
        if let note = cacheNote(trips: counted.before.counts.trips) {
            rehearsal = .rows
            notes.append(note)
        }
        let rounds = try TurnTaking.measure(
            before: { try run(before, model, rehearsal) }, after: { try run(after, model, rehearsal) })
        let measurement = TrialMeasurement(
            operations: operations, recordedOperations: recorded, rounds: rounds.count,
            time: .init(rounds.map { ($0.before.total, $0.after.total) }),
            pause: .init(rounds.map { ($0.before.longest, $0.after.longest) }),
            before: counted.before.counts, after: counted.after.counts)
        return (measurement, notes)
    }
}
