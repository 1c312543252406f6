internal import FaultlineTrace

/// R06: tables that are gone through row by row for a few rows that an index would find.
///
/// SQLite counts the steps of full scans (`SQLITE_STMTSTATUS_FULLSCAN_STEP`,
/// https://www.sqlite.org/c3ref/c_stmtstatus_counter.html). Fetches that one index serves are one finding.
public struct MissingIndexRule: Rule {
    public let id = "R06"
    public let name = "Missing index"
    public let purpose = "Full table scans that return few rows, which an index would avoid."

    /// The minimum rows of a table that is worth an index.
    static let minimumRows = Threshold(
        "R06", "minimumRows", 500.0, .count, "minimum rows of a table that justifies an index")
    /// The minimum steps of a scan that is reported, in all and for each row that was found.
    static let minimumSteps = Threshold("R06", "minimumSteps", 1000.0, .count, "minimum steps of scans in all")
    static let stepsPerRow = Threshold(
        "R06", "stepsPerRow", 10.0, .count, "minimum steps of a scan for each row found")
    /// The share of a table that a fetch may load: to seek more rows one by one takes as long as the scan.
    static let largestShare = Threshold(
        "R06", "largestShare", 0.1, .share, "maximum share of a table that a fetch loads with an index")
    /// The same for what an index alone answers, such as a count.
    static let largestIndexShare = Threshold(
        "R06", "largestIndexShare", 0.3, .share,
        "maximum share of a table that a fetch counts, or fetches IDs of, with an index")
    /// How many times as long as stepping over a row it takes to seek one that an index leads to, and the range in which
    /// that lies: 3–9 were measured, the most where each row lies on a page of its own.
    private static let seek = 6.0
    private static let seeks = 2.0...12.0
    /// Columns of an index.
    static let maximumColumns = Threshold("R06", "maximumColumns", 3, .count, "maximum columns of an index")
    /// What keeping an index costs for each row that is written, in nanoseconds: a few pages of a tree are in memory.
    static let upkeep = 2000.0

    public init() {}

    public func evaluate(_ profile: Profile, costs: CostModel) -> RuleOutcome {
        var outcome = RuleOutcome()
        let examined = profile.fetches.reduce(0) { $0 &+ $1.counts.statements }
        if examined > 0 {
            outcome.examined = "the scans of \(count: examined, "fetch", plural: "fetches")"
        }
        outcome.findings = Self.demands(profile).map { finding(for: $0, profile, costs.machine) }
        outcome.findings += automaticIndexes(profile) + needlessIndexes(profile) + longFetches(profile)
        return outcome
    }

    /// An index with the fetches that want it, the longest time first.
    struct Demand {
        var index: IndexProposal
        var fetches: [FetchProfile]

        /// Rows that the one which goes through most goes through.
        var scannedRows: Double { fetches.map(\.counts.scannedRows).max() ?? 0 }
    }

    static func demands(_ profile: Profile) -> [Demand] {
        var wanted: [IndexProposal: [FetchProfile]] = [:]
        for fetch in profile.fetches {
            let index = index(for: fetch, profile) ?? joinedIndex(for: fetch, profile)
            if let index { wanted[index, default: []].append(fetch) }
        }
        let order = { (index: IndexProposal) in
            (-index.elements.count, index.entity, index.code.joined(), index.equalities)
        }
        var demands: [Demand] = []
        for (index, fetches) in wanted.sorted(by: { order($0.key) < order($1.key) }) {
            if let place = demands.firstIndex(where: { $0.index.serves(index) }) {
                demands[place].fetches += fetches
            } else {
                demands.append(Demand(index: index, fetches: fetches))
            }
        }
        return demands.map { Demand(index: $0.index, fetches: $0.fetches.longestFirst) }
    }

    /// What SQLite takes to go through rows that the index would not lead to, in nanoseconds.
    ///
    /// The rows that the fetch hands out are left out, since the index has to lead to them as well; so is all that is not
    /// SQLite's: waiting, preparing, prefetching and making objects.
    static func scanning(_ fetch: FetchProfile, _ index: IndexProposal?, _ machine: MachineCosts) -> Saving.Range {
        let counts = fetch.counts
        let scanned = max(1, counts.scannedRows)
        let led = max(1, ledRows(of: fetch, to: index))
        let most = max(0, counts.runTime * (1 - led / scanned))
        let executions = Double(counts.executions)
        let sought = fetch.key.shape.loadsRows ? led : 0
        let gain = { (step: Double, seek: Double) in
            min(most, max(0, executions * step * (scanned - led - seek * sought)))
        }
        if let index, let spared = sparedSearches(fetch, index) {
            let most = counts.runTime * spared
            return Saving.Range(median: 0.85 * most, low: 0.5 * most, high: most)
        }
        // Comparing texts, and adding values up, goes on for the rows that an index leads to.
        guard counts.textComparisons == 0, fetch.key.shape.expressions == nil || scanned >= 10 * led else {
            let step = machine.steppedRow
            return Saving.Range(median: gain(step.usual, 0), low: gain(step.least, 0), high: gain(step.most, 0))
        }
        let scan = fetch.scanTime(machine)
        let step = { (time: Double) in time / executions / scanned }
        let median = gain(step(scan.usual), seek)
        return Saving.Range(
            median: median, low: gain(0.75 * step(scan.least), seeks.upperBound),
            high: max(median, gain(1.4 * step(scan.most), seeks.lowerBound)))
    }

    private func finding(for demand: Demand, _ profile: Profile, _ machine: MachineCosts) -> Finding {
        let advice = MissingIndexAdvice(demand: demand, profile: profile)
        let first = demand.fetches[0]
        let scans = demand.fetches.map { Self.scanning($0, demand.index, machine) }
        let saved = scans.reduce(0) { $0 + $1.median }
        let upkeep = Self.upkeep * Double(profile.writes(of: demand.index.entity))
        let saving = Saving.Range(
            median: max(0, saved - upkeep), low: max(0, scans.reduce(0) { $0 + $1.low } - upkeep),
            high: scans.reduce(0) { $0 + $1.high })
        var finding = Finding(
            rule: id, ruleName: name, title: advice.title, change: first.key.site,
            score: Score.of(demand.scannedRows, info: Self.minimumRows.value, warning: 50_000), fix: advice.fix,
            code: demand.index.code,
            saving: Saving(time: saving), confidence: upkeep * 2 < saved ? .medium : .low,
            signature: first.signature(id, demand.index.properties.text))
        finding.seenAt = demand.fetches.dropFirst().map(\.sighting)
        finding.scopes = first.counts.scopes.names
        finding.explanation = advice.explanation
        finding.evidence = [
            Evidence("executions", demand.fetches.total(\.executions), .count),
            Evidence("rows", demand.fetches.total(\.rows), .rows),
            Evidence("fullScanSteps", demand.fetches.total(\.fullScanSteps), .count),
            Evidence("fetchTime", demand.fetches.total(\.time), .nanoseconds),
            Evidence("stepTime", demand.fetches.reduce(0) { $0 + $1.counts.runTime }, .nanoseconds),
            Evidence("writtenRows", profile.writes(of: demand.index.entity), .rows),
        ]
        finding.claims = demand.fetches.map { Claim.loads($0.key, profile) }
        finding.remedy = demand.index.remedy(for: demand.fetches.map(\.key))
        weigh(&finding, demand, upkeep: upkeep, saved: saved, profile)
        return finding
    }

    private func weigh(
        _ finding: inout Finding, _ demand: Demand, upkeep: Double, saved: Double, _ profile: Profile
    ) {
        if upkeep >= saved {
            finding.downgrade("Keeping the index up would cost more than it saves here.")
        }
        if demand.scannedRows < Self.minimumRows.value {
            finding.downgrade(
                "A table of fewer than \(decimal: Self.minimumRows.value, places: 0, of: .rows) rows is scanned quickly."
            )
        }
        let scopes = demand.fetches.flatMap(\.counts.scopes.keys)
        // What goes through a table does so when the table grows, whatever it takes now.
        if !Significance.isMet(
            saving: finding.saving.time.median, wallTime: profile.wallTime(of: Set(scopes)),
            isMainThread: demand.fetches[0].isOnMainThread)
        {
            finding.reservations.append(Significance.notProven)
        }
    }
}
