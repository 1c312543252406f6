import FaultlineProfile
import FaultlineReader
import FaultlineRecorder
import FaultlineRules
import FaultlineStore
import Foundation

/// G17: work that is recorded, against the same work that is not.
///
/// The CPU time is that of the whole process, and includes the thread that writes the trace.
struct RecordingBudgets: BudgetGroup {
    static let numbers = ["G17"]

    static func measure(_ options: BudgetOptions, into table: inout BudgetTable) throws {
        let budgets = try RecordingBudgets()
        for comparison in budgets.comparisons() {
            let outcome = try comparison.run(rounds: options.rounds)
            table.add(outcome)
            let share = budgets.reportedShare(outcome)
            table.add(
                "G17", "\(comparison.name): reported cost, deviation from the measured one",
                count: abs(share - 100), atMost: 20, of: "% (\(share) %)")
        }
        let hits = try budgets.hits().run(rounds: options.rounds)
        table.add(hits)
        let added = hits.nanoseconds("counted") - hits.nanoseconds("not recorded")
        table.add("G17", "counting a row-cache hit", count: Int(added.rounded()), atMost: 12, of: "ns")
    }

    private static let count = 10_000
    private let people: PeopleStore
    private let reported = ReportedCosts()

    init() throws {
        people = try PeopleStore(count: Self.count)
    }

    /// A new path beside the store, which is removed with it.
    private var newTrace: URL {
        people.url.deletingLastPathComponent().appendingPathComponent("\(UUID().uuidString).json")
    }

    private struct Work {
        let name: String
        let operations: Int
        let limit: Double
        var keepsRows = true
        let run: (ManagedObjectContext) throws -> Void
    }

    /// The ratio of the cost that the trace of some work reports to the measured difference, in percent.
    func reportedShare(_ outcome: Comparison.Outcome) -> Int {
        let operations = Double(outcome.comparison.operations)
        let added = outcome.nanoseconds("recorded") - outcome.nanoseconds("not recorded")
        return Int((reported.median(of: outcome.comparison.name) / (added * operations) * 100).rounded())
    }

    func comparisons() -> [Comparison] {
        works.map { work in
            Comparison(
                name: work.name, operations: work.operations,
                arms: [
                    arm("not recorded", work, isRecorded: false), arm("recorded", work, isRecorded: true),
                    arm("recorded, the program's thread", work, isRecorded: true, isThread: true),
                ],
                budgets: [Budget("G17", "recorded", against: "not recorded", atMost: work.limit)])
        }
    }

    /// Faults that the row cache fills, counted and not recorded.
    ///
    /// The time is that of the reading thread alone.
    func hits() throws -> Comparison {
        func arm(_ name: String, _ recorder: Recorder) throws -> Arm {
            let store = try PeopleStore(count: Self.count, keepsRows: true, recorder: recorder)
            return Arm(name) {
                let context = store.container.newBackgroundContext()
                return try context.performAndWait {
                    let people = Array(try context.fetch(FetchRequest<Person>()))
                    return cpuTime {
                        var sum = 0
                        for person in people { sum &+= person.age }
                        blackHole(sum)
                    }
                }
            }
        }
        let trace = newTrace.path
        return Comparison(
            name: "a row-cache hit", operations: Self.count,
            arms: [
                try arm("not recorded", .off()), try arm("counted", Recorder.writing(to: .timeline(path: trace))),
            ],
            budgets: [])
    }

    private var works: [Work] {
        [
            Work(name: "20-row fetches", operations: 2000, limit: 1.05) { context in
                for number in 0..<2000 {
                    let request = FetchRequest<Person>(
                        predicate: PropertyPath("score") >= number * 7, fetchLimit: 20)
                    for person in try context.fetch(request) { blackHole(person.sum) }
                }
            },
            Work(name: "fault misses", operations: Self.count, limit: 1.15, keepsRows: false) { context in
                let request = FetchRequest<Person>(includesPropertyValues: false)
                for person in try context.fetch(request) { blackHole(person.age) }
            },
            Work(name: "saves of 10 objects", operations: 300, limit: 1.05) { context in
                let people = Array(try context.fetch(FetchRequest<Person>()))
                for number in 0..<300 {
                    for person in people[number * 10..<number * 10 + 10] { person[Person.score] += 1 }
                    try context.save()
                }
            },
            // Rows arrive in batches of 33, and each then fires once from the row cache.
            Work(name: "a scroll with 97 % row-cache hits", operations: 10 * Self.count, limit: 1.15) { context in
                for _ in 0..<10 {
                    for person in try context.fetch(FetchRequest<Person>(fetchBatchSize: 33)) { blackHole(person.age) }
                }
            },
        ]
    }

    /// - Parameter isThread: Whether only the time of the thread that does the work counts.
    private func arm(_ name: String, _ work: Work, isRecorded: Bool, isThread: Bool = false) -> Arm {
        Arm(name) { [self] in
            let trace = newTrace
            defer { try? FileManager.default.removeItem(at: trace) }
            let recorder = isRecorded ? try Recorder.writing(to: .timeline(path: trace.path)) : .off()
            let store = try PeopleStore(copying: people, keepsRows: work.keepsRows, recorder: recorder)
            let context = store.container.newBackgroundContext()
            // The thread's ring and the dictionary's first entries are no part of the work.
            try context.performAndWait { _ = try context.fetch(FetchRequest<Person>(fetchLimit: 1)) }
            let start = processTime()
            let time = try context.performAndWait { try cpuTime { try work.run(context) } }
            // Writes the rest of the trace.
            recorder.close()
            let whole = processTime() - start
            if isRecorded, !isThread { try reported.add(trace, of: work.name) }
            return isThread ? time : whole
        }
    }

    /// The cost of recording as the traces state it, by work.
    private final class ReportedCosts {
        private var costs: [String: [Double]] = [:]

        func add(_ trace: URL, of work: String) throws {
            var builder = ProfileBuilder()
            try TraceReader(path: trace.path).read { builder.add($0) }
            let profile = builder.finish()
            costs[work, default: []].append(Double(profile.totals.overhead + profile.writing))
        }

        func median(of work: String) -> Double {
            let sorted = costs[work, default: [0]].sorted()
            return sorted[sorted.count / 2]
        }
    }
}
