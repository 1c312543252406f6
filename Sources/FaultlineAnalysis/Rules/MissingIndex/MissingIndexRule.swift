public import FaultlineTrace

/// R06: full table scans for a few rows that an index would find.
///
/// SQLite counts the steps of full scans (`SQLITE_STMTSTATUS_FULLSCAN_STEP`,
/// https://www.sqlite.org/c3ref/c_stmtstatus_counter.html). Fetches that the same index serves share a finding.
public struct MissingIndexRule: Rule {
    public let id = "R06"
    public let name = "Missing index"
    public let purpose = "Full table scans that return few rows, which an index would avoid."
    public let kinds: Set<EventKind> = [.fetch, .sql]

    /// The cost of maintaining an index, in nanoseconds per written row: a few pages of a tree that is in memory.
    static let upkeep = 2000.0

    public init() {}

    public func evaluate(_ profile: Profile, costs: CostModel) -> RuleOutcome {
        var outcome = RuleOutcome()
        let examined = profile.fetches.reduce(0) { $0 &+ $1.counts.statements }
        if examined > 0 {
            outcome.examined = "the scans of \(count: examined, "fetch", plural: "fetches")"
        } else if let statements = profile.statementsWithoutOperations {
            outcome.examined = "the scans of \(count: statements, "statement")"
        } else if profile.totals.outermostWrites > 0, profile.allProcesses.lacks(.operations) {
            outcome.examined = "the scans of \(count: profile.totals.outermostWrites, "statement")"
        }
        outcome.findings = Self.demands(profile).map { finding(for: $0, profile, costs.machine) }
        outcome.findings += automaticIndexes(profile) + needlessIndexes(profile) + longFetches(profile)
        outcome.findings += statementScans(profile) + automaticIndexesOfStatements(profile)
        return outcome
    }

    /// An index with the fetches that need it, the longest total time first.
    struct Demand {
        var index: IndexProposal
        var fetches: [FetchProfile]

        /// The rows that the largest scan steps over.
        var scannedRows: Double { fetches.map(\.counts.scannedRows).max() ?? 0 }
    }

    static func demands(_ profile: Profile) -> [Demand] {
        var wanted: [IndexProposal: [FetchProfile]] = [:]
        for fetch in profile.fetches {
            let indexing = FetchIndexing(fetch: fetch, profile: profile)
            let index = indexing.missing ?? joinedIndex(for: fetch, profile)
            if let index { wanted[index, default: []].append(fetch) }
        }
        let order = { (index: IndexProposal) in
            (-index.elements.count, index.entity, index.code.joined(), index.equalities)
        }
        var demands: [Demand] = []
        for (index, fetches) in wanted.ordered(by: { order($0.key) < order($1.key) }) {
            if let position = demands.firstIndex(where: { $0.index.serves(index) }) {
                demands[position].fetches += fetches
            } else {
                demands.append(Demand(index: index, fetches: fetches))
            }
        }
        return demands.map { Demand(index: $0.index, fetches: $0.fetches.longestFirst) }
    }

    private func finding(for demand: Demand, _ profile: Profile, _ machine: MachineCosts) -> Finding {
        let advice = MissingIndexAdvice(demand: demand, profile: profile)
        let first = demand.fetches[0]
        let scans = demand.fetches.map { $0.scanSaving(with: demand.index, machine) }
        let saved = scans.reduce(0) { $0 + $1.median }
        let upkeep = Self.upkeep * Double(profile.writes(of: demand.index.entity))
        let saving = Saving.Range(
            median: max(0, saved - upkeep), low: max(0, scans.reduce(0) { $0 + $1.low } - upkeep),
            high: scans.reduce(0) { $0 + $1.high })
        var finding = Finding(
            rule: id, ruleName: name, title: advice.title, change: first.key.site,
            score: Score.of(demand.scannedRows, info: FetchIndexing.minimumRows.value, warning: 50_000),
            fix: advice.fix,
            code: demand.index.code,
            saving: Saving(time: saving),
            confidence: upkeep * 2 < saved
                ? .medium("the costs of a step and a seek are estimated")
                : .low("updating the index may cost as much as it saves"),
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
            finding.downgrade("Maintaining the index would cost more than it saves here.")
        }
        if demand.scannedRows < FetchIndexing.minimumRows.value {
            finding.downgrade(
                "A table of fewer than \(decimal: FetchIndexing.minimumRows.value, places: 0, of: .rows) rows is scanned quickly."
            )
        }
        let scopes = demand.fetches.flatMap(\.counts.scopes.keys)
        // The scan grows with the table, whatever it costs now.
        if !Significance.isMet(
            saving: finding.saving.time.median, wallTime: profile.wallTime(of: Set(scopes)),
            isMainThread: demand.fetches[0].isOnMainThread)
        {
            finding.reservations.append(Significance.notProven)
        }
    }
}
