internal import FaultlineFindings
internal import FaultlineProfile
internal import FaultlineTrace

/// A fetch that takes longer than its rows explain, in a trace without SQLite's counters.
///
/// A plan names a scan or an index, but not how many rows SQLite visited. The time of a fetch of few rows shows it.
struct LongFetch {
    /// The minimum time of a fetch of few rows that shows that SQLite did not seek only these.
    static let minimumTime = Threshold(
        "R06", "longFetch", 20_000_000.0, .time, "minimum time of a fetch whose scan steps were not counted")
    /// The minimum ratio of the fetch's time to the time its rows explain.
    ///
    /// On a telephone, a row takes some ten times the assumed cost.
    static let minimumFactor = 20.0

    var fetch: FetchProfile
    /// SQLite's time for one fetch, in nanoseconds, if the trace has it, or else the fetch's whole time.
    var time: Double
    var isTimeOfSQLite: Bool
    /// The part of the time that its rows explain.
    var explained: Double
    /// `nil` if the trace has no plan.
    var plan: String?

    /// - Returns: `nil` if the trace has SQLite's counters, or the fetch is not long.
    init?(_ fetch: FetchProfile) {
        let counts = fetch.counts
        guard counts.executions > 0, counts.fullScanSteps == 0, counts.virtualMachineSteps == 0 else { return nil }
        let runs = fetch.statements.texts.values.flatMap(\.values)
        let (count, total) = (runs.reduce(0) { $0 &+ $1.count }, runs.reduce(0) { $0 &+ $1.time })
        isTimeOfSQLite = count > 0 && total > 0
        time = isTimeOfSQLite ? Double(total) / Double(count) : counts.meanTime
        // A count steps over its rows. One of distinct rows keeps them, and one with a join seeks a row for each.
        let keepsRows = fetch.statements.texts.keys.contains { $0.contains(" JOIN ") || $0.contains("DISTINCT") }
        let isPlainCount = fetch.key.shape.resultType == "count" && !keepsRows
        let row = isPlainCount ? CostModel.steppedRow.usual : CostModel.assumed.row
        explained = CostModel.assumed.trip + row * counts.foundRows
        guard Self.isLong(time, explained: explained) else { return nil }
        self.fetch = fetch
        plan = fetch.statements.commonPlan
    }

    /// Whether a time, in nanoseconds, is long beside the part of it that the fetch's rows explain.
    static func isLong(_ time: Double, explained: Double) -> Bool {
        time >= minimumTime.value && time >= minimumFactor * explained
    }

    /// Whether a text comparison explains its time, which R08 reports.
    var isSearch: Bool { fetch.key.shape.isSearch }

    var saved: Double { max(0, time - explained) * Double(fetch.counts.executions) }

    /// The line of the plan that accesses the fetched table.
    var access: String? {
        plan.flatMap { StatementTable.ownScan(in: $0) ?? StatementTable.ownSearch(in: $0).map(String.init) }
    }

    /// The columns by which the plan seeks rows of the fetched table.
    var soughtColumns: Set<String> {
        guard let plan, let search = StatementTable.ownSearch(in: plan) else { return [] }
        return Set(search.matches(of: /(\w+)[=<>]/).map { $0.1.uppercased() })
    }
}
