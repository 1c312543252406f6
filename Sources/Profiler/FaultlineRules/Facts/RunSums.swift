internal import FaultlineFindings
package import FaultlineProfile
package import FaultlineTrace

/// Runs of one operation from one line, such as a statement or a fetch, and the work that they belong to.
///
/// The evidence of several rules begins with it. Figures that a detector does not gather stay empty.
package struct RunSums: Sendable, StartsEmpty {
    /// The number of groups of runs, each within one scope or unit of work.
    package var occurrences: UInt64 = 0
    /// The number of groups in which events were lost.
    package var lossyOccurrences: UInt64 = 0
    /// The number of runs.
    package var executions: UInt64 = 0
    /// The rows that they returned or wrote.
    package var rows: UInt64 = 0
    /// The runs' time without waits for locks, in nanoseconds.
    package var time: UInt64 = 0
    package var mainThreadTime: UInt64 = 0
    /// The time between the runs that was not spent in the store or in SQLite, in nanoseconds.
    package var waiting: UInt64 = 0
    /// The time that the program and its libraries needed for each run, as far as the shortest time between two shows it, in
    /// nanoseconds.
    package var overhead: UInt64 = 0
    /// The lines that called the functions with the runs, with the number of calls.
    package var callers: [CallSite: UInt64] = [:]
    /// The libraries that ran statements for the program, as names of ``StatementLibrary``.
    package var libraries: Set<String> = []
    package var scopes: [ScopeSummary.Key: UInt64] = [:]
    /// The wall time of the scopes, or without scopes from the first run of each group to its last, in nanoseconds.
    package var wallTime: UInt64 = 0

    package init() {}
}

extension RunSums: Summed {
    package static let parts: [SumPart<RunSums>] = [
        .sum("occurrences", \.occurrences), .sum("lossyOccurrences", \.lossyOccurrences),
        .sum("executions", \.executions), .sum("rows", \.rows), .sum("time", \.time),
        .sum("mainThreadTime", \.mainThreadTime), .sum("waiting", \.waiting), .sum("wallTime", \.wallTime),
        .sum("overhead", \.overhead),
        .part("callers", \.callers), .union("libraries", \.libraries), .part("scopes", \.scopes),
    ]
}

/// Evidence of runs, whose sums can be read as its own.
@dynamicMemberLookup
protocol RunEvidence: Summed, StartsEmpty {
    var runs: RunSums { get set }
}

extension RunEvidence {
    subscript<Value>(dynamicMember path: WritableKeyPath<RunSums, Value>) -> Value {
        get { runs[keyPath: path] }
        set { runs[keyPath: path] = newValue }
    }

    /// The number of occurrences as words that follow a verb, or none if there was only one: ` on 3 occasions`.
    var onOccasions: Wording { runs.occurrences > 1 ? " on \(count: runs.occurrences) occasions" : "" }

    /// Creates the evidence of one occurrence.
    init(_ repetition: Repetition, in surroundings: Surroundings) {
        self.init()
        runs.occurrences = 1
        runs.executions = repetition.executions
        runs.rows = repetition.rows
        runs.time = repetition.time
        runs.mainThreadTime = repetition.mainThreadTime
        runs.waiting = repetition.waiting
        runs.overhead = repetition.overhead
        runs.callers = repetition.callers
        complete(in: surroundings)
    }

    /// Adds what only the surroundings of an occurrence show.
    mutating func complete(in surroundings: Surroundings) {
        runs.lossyOccurrences = surroundings.lossyOccurrences
        runs.scopes = surroundings.scopes
        runs.wallTime = surroundings.wallTime
    }

    /// Adds a run of a statement.
    mutating func add(
        _ statement: TraceEvent.Statement, _ event: TraceEvent, in surroundings: Surroundings,
        by library: StatementLibrary?
    ) {
        let time = event.timeWithoutLockWait
        runs.executions &+= 1
        runs.rows &+= UInt64(statement.rows)
        runs.time &+= time
        if event.isMainThread { runs.mainThreadTime &+= time }
        if let library { runs.libraries.insert(library.rawValue) }
        if let scope = surroundings.scope { runs.scopes[scope, default: 0] &+= 1 }
        runs.wallTime &+= surroundings.wallTime
    }
}

extension EvidenceDetector where Evidence: RunEvidence {
    static var wallTime: (any WritableKeyPath<Evidence, UInt64> & Sendable)? { \Evidence.runs.wallTime }
}

extension StatementText {
    /// Whether runs look up at most one row each by a value.
    ///
    /// Mappers such as SQLAlchemy and Peewee give the limit of such a statement an offset, which is 0.
    func looksUpRows(_ runs: RunSums) -> Bool { comparedColumn != nil && runs.rows <= runs.executions }
}

// Beside the detectors of rules, because the compiler specializes generic code only within a module.

extension EvidenceDetector {
    /// Whether evidence under a key can be added without exceeding a number of keys.
    func hasRoom(for key: Key, among capacity: Int) -> Bool {
        evidence.count < capacity || evidence[key] != nil
    }

    /// Merges evidence under a key.
    mutating func add(_ found: Evidence, to key: Key) { evidence[key, default: Evidence()].merge(found) }

    /// Returns the surroundings of an event in a scope.
    ///
    /// The scope's wall time counts once for each key.
    ///
    /// - Parameter wallTime: The wall time to use outside any scope, in nanoseconds.
    func surroundings(
        of scope: EventID, for key: Key, outside wallTime: UInt64, in context: inout ProcessContext
    ) -> Surroundings {
        context.surroundings(of: scope, for: EvidenceReference(Self.self, key), outside: wallTime)
    }
}
