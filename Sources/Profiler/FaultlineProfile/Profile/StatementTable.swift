package import FaultlineTrace

/// The texts of a statement that many operations run, with SQLite's plans for them.
///
/// With more than ``capacity`` texts, it keeps those with the smallest hashes, so tables can be merged in any order.
/// The kept figures are exact.
package struct StatementTable: Sendable {
    /// The runs of one text with one plan.
    package struct Runs: Sendable, Hashable {
        package internal(set) var count: UInt64 = 0
        /// In nanoseconds.
        package internal(set) var time: UInt64 = 0
        package internal(set) var rows: UInt64 = 0
        package internal(set) var virtualMachineSteps: UInt64 = 0
        /// The rows of automatic indexes, which SQLite builds for a single run.
        package internal(set) var automaticIndexRows: UInt64 = 0
        /// The indexes of the table that the plan scans, each as its comma-separated columns.
        package internal(set) var indexes: Set<String> = []
        /// The comparison with SQLite's expectation.
        package internal(set) var expectation = Expectation()

        package init() {}
    }

    /// The rows that runs visited, and the rows that SQLite expected from the statistics of `ANALYZE`.
    package struct Expectation: Sendable, Hashable {
        /// The number of runs for which both are known.
        package internal(set) var runs: UInt64 = 0
        package internal(set) var expectedRows: UInt64 = 0
        package internal(set) var rows: UInt64 = 0
        /// The number of runs that visited exactly the counted rows, and no more.
        package internal(set) var exactRuns: UInt64 = 0

        package init() {}
    }

    package static let capacity = 16

    package init() {}

    /// The runs, by text and by the lines of the plan.
    package private(set) var texts: [String: [String: Runs]] = [:]

    mutating func add(_ runs: Runs, of text: String, plan: String) {
        texts[text, default: [:]][plan, default: Runs()].merge(runs)
        trim()
    }

    private mutating func trim() {
        guard texts.count > Self.capacity else { return }
        let order = { (text: String) in (StableHash.text(text), text) }
        for text in texts.keys.ordered(by: { order($0) < order($1) }).dropFirst(Self.capacity) { texts[text] = nil }
    }

    /// The plan of most runs, or `nil` if no plan is known.
    package var commonPlan: String? {
        let plans = texts.values.reduce(into: [String: UInt64]()) { sum, plans in
            for (plan, runs) in plans.knownPlans { sum[plan, default: 0] &+= runs.count }
        }
        return plans.max { ($0.value, $1.key) < ($1.value, $0.key) }?.key
    }

    /// The line of a plan that seeks rows of the fetched table with an index.
    package static func ownSearch(in plan: String) -> Substring? {
        plan.split(separator: "\n").first { $0.hasPrefix("SEARCH t0 ") }
    }

    /// The line of a plan that scans the fetched table, for which the store uses the alias `t0`.
    package static func ownScan(in plan: String) -> String? {
        plan.split(separator: "\n").first { $0 == "SCAN t0" || $0.hasPrefix("SCAN t0 ") }.map(String.init)
    }
}

extension [String: StatementTable.Runs] {
    /// The runs of one text whose plan is in the trace.
    package var knownPlans: [String: StatementTable.Runs] { filter { !$0.key.isEmpty } }
}

extension StatementTable: Mergeable, StartsEmpty {
    package mutating func merge(_ other: StatementTable) {
        texts.merge(other.texts)
        trim()
    }

    package func stored(_ words: inout ProfileWords) -> StoredValue { texts.stored(&words) }
    package mutating func divide(by recordings: UInt64) { texts.divide(by: recordings) }

    package mutating func restore(_ value: StoredValue, _ words: ProfileWords) throws {
        try texts.restore(value, words)
        trim()
    }
}

extension StatementTable.Runs: Summed, StartsEmpty {
    package static let parts: [SumPart<StatementTable.Runs>] = [
        .sum("count", \.count), .sum("time", \.time), .sum("rows", \.rows),
        .sum("virtualMachineSteps", \.virtualMachineSteps), .part("expectation", \.expectation),
        .sum("automaticIndexRows", \.automaticIndexRows), .union("indexes", \.indexes),
    ]
}

extension StatementTable.Expectation: Summed, StartsEmpty {
    package static let parts: [SumPart<StatementTable.Expectation>] = [
        .sum("runs", \.runs), .sum("expectedRows", \.expectedRows), .sum("rows", \.rows),
        .sum("exactRuns", \.exactRuns),
    ]
}

/// A statement at a line of the program.
package struct StatementSite: Sendable, Hashable {
    /// The statement's text, without values.
    package var sql: String
    /// The line, or `nil` if the trace does not have it.
    package var site: CallSite?

    package init(sql: String, site: CallSite?) { (self.sql, self.site) = (sql, site) }
}

extension StatementSite: NamedSite {
    package var name: String { sql }

    package init(name: String, site: CallSite?) { self.init(sql: name, site: site) }
}
