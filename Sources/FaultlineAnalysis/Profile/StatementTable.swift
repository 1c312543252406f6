internal import FaultlineTrace

/// The texts of a statement that does the same for each of many operations, with SQLite's plans for them.
///
/// Of more than ``capacity`` texts it keeps those with the smallest hashes, so that tables add up in any order; what it
/// keeps is exact.
public struct StatementTable: Sendable {
    /// Runs of one text with one plan.
    public struct Runs: Sendable, Hashable {
        public internal(set) var count: UInt64 = 0
        /// In nanoseconds.
        public internal(set) var time: UInt64 = 0
        public internal(set) var rows: UInt64 = 0
        public internal(set) var virtualMachineSteps: UInt64 = 0
        /// Rows of indexes that SQLite made for one run.
        public internal(set) var automaticIndexRows: UInt64 = 0
        /// Indexes of the table that the plan goes through, each as its columns with commas between.
        public internal(set) var indexes: Set<String> = []
        /// What SQLite had expected.
        public internal(set) var expectation = Expectation()
    }

    /// Rows that runs went to beside those that SQLite expected by what `ANALYZE` had written.
    public struct Expectation: Sendable, Hashable {
        /// Runs of which both are known.
        public internal(set) var runs: UInt64 = 0
        public internal(set) var expectedRows: UInt64 = 0
        public internal(set) var rows: UInt64 = 0
        /// Those runs that may not have gone to more rows than they are said to.
        public internal(set) var exactRuns: UInt64 = 0
    }

    static let capacity = 16

    init() {}

    /// By text, and by the plan's lines.
    public private(set) var texts: [String: [String: Runs]] = [:]

    mutating func add(_ runs: Runs, of text: String, plan: String) {
        texts[text, default: [:]][plan, default: Runs()].merge(runs)
        trim()
    }

    private mutating func trim() {
        guard texts.count > Self.capacity else { return }
        let order = { (text: String) in (StableHash.text(text), text) }
        for text in texts.keys.sorted(by: { order($0) < order($1) }).dropFirst(Self.capacity) { texts[text] = nil }
    }

    /// The plan that ran most often; `nil`: none is known.
    var commonPlan: String? {
        let plans = texts.values.reduce(into: [String: UInt64]()) { sum, plans in
            for (plan, runs) in plans.knownPlans { sum[plan, default: 0] &+= runs.count }
        }
        return plans.max { ($0.value, $1.key) < ($1.value, $0.key) }?.key
    }

    /// The line of a plan that goes to rows of the fetched table by an index.
    static func ownSearch(in plan: String) -> Substring? {
        plan.split(separator: "\n").first { $0.hasPrefix("SEARCH t0 ") }
    }

    /// The line of a plan that goes through the fetched table row by row, whose alias the store makes `t0`.
    static func ownScan(in plan: String) -> String? {
        plan.split(separator: "\n").first { $0 == "SCAN t0" || $0.hasPrefix("SCAN t0 ") }.map(String.init)
    }
}

extension [String: StatementTable.Runs] {
    /// The runs of one text whose plan the trace has.
    var knownPlans: [String: StatementTable.Runs] { filter { !$0.key.isEmpty } }
}

extension StatementTable: Mergeable, StartsEmpty {
    mutating func merge(_ other: StatementTable) {
        texts.merge(other.texts)
        trim()
    }

    func stored(_ words: inout ProfileWords) -> StoredValue { texts.stored(&words) }

    mutating func restore(_ value: StoredValue, _ words: ProfileWords) throws {
        try texts.restore(value, words)
        trim()
    }
}

extension StatementTable.Runs: Summed, StartsEmpty {
    static let parts: [SumPart<StatementTable.Runs>] = [
        .sum("count", \.count), .sum("time", \.time), .sum("rows", \.rows),
        .sum("virtualMachineSteps", \.virtualMachineSteps), .part("expectation", \.expectation),
        .sum("automaticIndexRows", \.automaticIndexRows), .union("indexes", \.indexes),
    ]
}

extension StatementTable.Expectation: Summed, StartsEmpty {
    static let parts: [SumPart<StatementTable.Expectation>] = [
        .sum("runs", \.runs), .sum("expectedRows", \.expectedRows), .sum("rows", \.rows),
        .sum("exactRuns", \.exactRuns),
    ]
}
