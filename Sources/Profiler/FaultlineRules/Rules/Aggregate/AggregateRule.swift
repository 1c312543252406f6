internal import FaultlineFindings
internal import FaultlineProfile
internal import FaultlineTrace

/// R05: rows that are loaded only to be counted, checked for existence, or folded into one value.
struct AggregateRule: Rule {
    let id = "R05"
    let name = "Counts and sums by fetching"
    let purpose = "Rows that are loaded only to be counted, or for a value that the store can compute."
    let kinds: Set<EventKind> = [.fetch, .use]

    func evaluate(_ profile: Profile, costs: CostModel) -> RuleOutcome {
        var outcome = RuleOutcome()
        var results: UInt64 = 0
        var unrecorded: UInt64 = 0
        for fetch in profile.fetches where fetch.key.shape.resultType == "objects" {
            let executions = fetch.total(\.executions)
            results &+= executions
            if fetch.key.shape.terms == nil { unrecorded &+= executions }
            if let finding = finding(for: fetch, profile, costs) { outcome.findings.append(finding) }
        }
        if results > 0 { outcome.examined = "the use of \(count: results, "result")" }
        if unrecorded > 0 {
            outcome.obstacles.append(
                "An older recorder did not record changes to \(count: unrecorded, "result"), so sums over them are not detected."
            )
        }
        return outcome
    }

    private func finding(for fetch: FetchProfile, _ profile: Profile, _ costs: CostModel) -> Finding? {
        // R04 advises one request for all values of the loop.
        guard !FetchLoopKind.isGrouped(fetch, profile), let demand = ResultDemand(of: fetch),
            let advice = AggregateAdvice(fetch: fetch, demand: demand)
        else { return nil }
        // Objects that other fetches compare with are needed themselves, even if only one number of each is read.
        if case .fold = demand.kind, Self.isAskedFor(fetch, profile) { return nil }
        let shape = fetch.key.shape
        let isKeysOnly = demand.batchSize > 0 && demand.tally.touchedRows == 0
        let estimate = isKeysOnly ? costs.identities(of: shape) : costs.rows(of: shape)
        let saving = Self.saving(demand, estimate, fetch, costs.machine)
        // If rows were used, the trace shows only which properties were read, not why.
        let isCertain = demand.tally.touchedRows == 0
        let severity = Severity.of(
            Double(demand.tally.rows) / Double(demand.tally.executions), warning: ResultDemand.minimumRows.value,
            error: 1000)
        var finding = Finding(
            rule: id, ruleName: name, title: advice.title, change: fetch.key.site,
            severity: isCertain ? severity : min(severity, .warning),
            fix: advice.fix, code: advice.code, saving: Saving(time: Saving.Range(saving)),
            confidence: min(
                isCertain ? .high : .medium("the trace does not show what the values were used for"),
                estimate.confidence(in: saving)),
            signature: fetch.signature(id, advice.what))
        addFigures(of: demand, isKeysOnly: isKeysOnly, to: &finding)
        finding.seenAt = isCertain ? [] : fetch.readers
        finding.scopes = fetch.counts.scopes.names
        finding.explanation = advice.explanation
        finding.alternatives = advice.alternatives
        finding.claims = [Claim.loads(fetch.key, profile)]
        finding.remedy = .answer(fetch.key, advice.answer)
        weigh(&finding, fetch, demand, profile)
        return finding
    }

    /// Whether fetches in the same scopes compare a relationship with objects of the fetch's entity tree.
    private static func isAskedFor(_ fetch: FetchProfile, _ profile: Profile) -> Bool {
        let paths = KeyPaths(profile: profile)
        let tree = profile.tree(of: fetch.key.shape.entity)
        return profile.fetches.contains { other in
            let shape = other.key.shape
            let terms = (shape.terms ?? []).filter { $0.operand == "object" }
            // Without scopes, all fetches are in the same one.
            let isNear =
                fetch.counts.scopes.isEmpty || other.counts.scopes.keys.contains { fetch.counts.scopes[$0] != nil }
            guard !terms.isEmpty, isNear else { return false }
            return terms.contains { term in
                let end = paths.edges(of: term.keyPath, from: shape.entity).last.flatMap(paths.destination)
                return end.map { profile.tree(of: $0) } == tree
            }
        }
    }

    /// The saving if the store answers instead, over the range of its assumed step costs.
    private static func saving(
        _ demand: ResultDemand, _ estimate: CostModel.Estimate, _ fetch: FetchProfile, _ machine: MachineCosts
    ) -> (median: Double, low: Double, high: Double) {
        let counts = fetch.counts
        let time = max(0, Double(demand.tally.time) - counts.prepareTime(of: demand.tally.executions))
        // A sum reads the rows themselves. A count may use an index alone.
        let isFold = if case .fold = demand.kind { true } else { false }
        let misses = isFold ? Double(counts.pageMisses) : 0
        if counts.isSplit, counts.scannedRows > 0, demand.batchSize == 0 {
            let scan = fetch.scanTime(machine)
            let left = { (scan: Double, step: Double) in
                let scanned = scan / Double(max(1, counts.executions))
                return max(0, time - scannedCost(of: demand, scanned, estimate.line, step: step))
            }
            let row = machine.cost(isFold ? .summedRow : .countedRow, assumed: Self.countedRow)
            return (
                left(scan.usual, row.usual), left(Self.scans.upperBound * scan.most, row.most),
                left(Self.scans.lowerBound * scan.least, row.least)
            )
        }
        // A sum must seek each row that an index finds.
        let step = isFold ? CostModel.steppedRow : machine.steppedRow
        let page = machine.page
        return estimate.range(
            usual: (step: step.usual, page: page.usual), least: (step.most, page.most), most: (step.least, page.least)
        ) { time - cost(of: demand, $0, step: $1.step) - misses * $1.page }
    }

    /// The time of the scan for a count or a sum, as a multiple of the scan for the rows.
    ///
    /// 0.95–1.2 was measured.
    private static let scans = 0.9...1.2
    /// The assumed extra cost of a row that a scan counts over one that it steps over, in nanoseconds, with its range.
    private static let countedRow = StepCost(usual: 20, least: 0, most: 80)

    /// The store's time for the answer if it scans the table, in nanoseconds.
    ///
    /// The whole scan remains, unless one row is enough.
    ///
    /// - Parameter scanned: The time of one scan.
    private static func scannedCost(
        of demand: ResultDemand, _ scanned: Double, _ line: CostLine, step: Double
    ) -> Double {
        let (executions, rows) = (Double(demand.tally.executions), Double(demand.tally.rows))
        let trip = min(line.trip, CostModel.emptyTrip)
        let scanned = scanned * executions
        let first = { (taken: Double) in scanned * min(1, taken / max(1, rows)) }
        return switch demand.kind {
        case .existence: executions * trip + first(executions)
        case .identities, .deletion, .update: executions * trip + scanned
        case .count: executions * trip + scanned + rows * step
        // The expression and its dictionary cost about as much as another trip.
        case .fold: 2 * executions * trip + scanned + rows * step
        case .first:
            2 * executions * trip + scanned + rows * step + first(Double(demand.tally.touchedRows))
                + Double(demand.tally.touchedRows) * line.row
        }
    }

    /// The store's time for the answer, in nanoseconds.
    ///
    /// - Parameter step: The time to step over a row.
    private static func cost(of demand: ResultDemand, _ line: CostLine, step: Double) -> Double {
        let (executions, rows) = (Double(demand.tally.executions), Double(demand.tally.rows))
        return switch demand.kind {
        case .existence, .identities, .deletion, .update: line.cost(trips: executions, rows: 0)
        case .count, .fold: line.cost(trips: executions, rows: 0) + rows * step
        case .first:
            line.cost(trips: 2 * executions, rows: Double(demand.tally.touchedRows)) + rows * step
        }
    }

    /// The number of rows that no longer have to be loaded.
    private static func avoidedRows(_ demand: ResultDemand) -> Double {
        guard case .first = demand.kind else { return Double(demand.tally.rows) }
        return Double(demand.tally.untouchedRows)
    }

    private func addFigures(of demand: ResultDemand, isKeysOnly: Bool, to finding: inout Finding) {
        let tally = demand.tally
        let share = Self.avoidedRows(demand) / Double(max(1, tally.rows))
        finding.saving.rows = isKeysOnly ? 0 : Int64(saturating: Self.avoidedRows(demand))
        finding.saving.bytes = Int64(saturating: Double(tally.bytes) * share)
        if demand.batchSize == 0 {
            finding.saving.memory = Int64(saturating: Double(tally.bytes) * share / Double(tally.executions))
        }
        if case .first = demand.kind { finding.saving.trips = -Int64(clamping: tally.executions) }
        finding.evidence = [
            Evidence("executions", tally.executions, .count), Evidence("rows", tally.rows, .rows),
            Evidence("touchedRows", tally.touchedRows, .rows), Evidence("mostTouched", tally.mostTouched, .rows),
            Evidence("counted", tally.counted, .count), Evidence("bytes", tally.bytes, .bytes),
            Evidence("fetchTime", tally.time, .nanoseconds), Evidence("batchSize", demand.batchSize, .rows),
        ]
    }

    private func weigh(_ finding: inout Finding, _ fetch: FetchProfile, _ demand: ResultDemand, _ profile: Profile) {
        let isLongEnough = Significance.isMet(
            saving: finding.saving.time.median, wallTime: profile.wallTime(of: fetch.counts.scopes.keys),
            isMainThread: fetch.isOnMainThread)
        finding.weigh(
            isLongEnough: isLongEnough,
            isLargePart: Significance.isMet(rows: finding.saving.rows, of: profile.totals.rowsLoaded),
            of: "rows")
        if case .fold = demand.kind, !fetch.key.shape.sort.isEmpty {
            finding.downgrade("The rows are sorted, so their order may matter to what the program computes from them.")
        }
    }
}

extension AggregateRule {
    var needs: Set<TraceGap.Kind> { [.use] }

    var thresholds: [Threshold] {
        [ResultDemand.minimumRows, ResultDemand.minimumBytes]
    }

    var manual: RuleManual {
        RuleManual(
            trigger:
                "R05 reports results of one line, at least \(ResultDemand.minimumRows.text) rows or "
                + "\(ResultDemand.minimumBytes.text) each, if in \(ResultDemand.share.text) of the cases the program "
                + "only counted them, only tested them for emptiness, only read one numeric attribute of each row in "
                + "order, or used only their count and first rows.",
            evidence:
                "The finding gives the results, their rows, the rows that were used, the number of counted results, "
                + "the bytes and the time.",
            fix: "Use a count request, a limit of 1 to check whether any row exists, an aggregate expression instead "
                + "of a sum over objects, or a count in addition to a fetch with a limit.",
            saving:
                "The saving is the fetches' total time, minus one round trip each (two for a sum), the time SQLite "
                + "needs to prepare the statement, and the scan or the steps over the rows that remain.",
            guards: [
                "A sum over a fetch with a limit is not reported: an aggregate has no first rows.",
                "Objects that are used later, up to the result's end, count as used.",
                "A trace shows which attributes were read, but not what was computed from them, so a sum is never more than a "
                    + "warning.",
                "Where other fetches in the same scopes compare a relationship with objects of the entity, no sum is reported: "
                    + "the program needs the objects.",
                "If the rows are sorted, their order may matter to the program, and the finding is a note.",
            ])
    }
}
