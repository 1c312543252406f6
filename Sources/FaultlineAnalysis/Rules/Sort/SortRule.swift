public import FaultlineTrace

/// R19: rows that SQLite sorts itself because no index has them in order.
///
/// SQLite counts the sorts of a statement (`SQLITE_STMTSTATUS_SORT`,
/// https://www.sqlite.org/c3ref/c_stmtstatus_counter.html).
public struct SortRule: Rule {
    public let id = "R19"
    public let name = "Sorting without an index"
    public let purpose = "Fetches whose rows SQLite sorts each time, although an index could return them in order."
    public let kinds: Set<EventKind> = [.fetch, .sql]

    /// The minimum rows of a reported sort.
    ///
    /// Fewer are enough if a limit keeps at most a tenth of them.
    static let minimumRows = Threshold("R19", "minimumRows", 500.0, .count, "minimum rows of a sort")
    static let minimumLimitedRows = Threshold(
        "R19", "minimumLimitedRows", 50.0, .count, "minimum rows of a sort with a limit")
    static let limitFactor = Threshold(
        "R19", "limitFactor", 10.0, .factor, "minimum ratio of sorted rows to the limit")

    public init() {}

    public func evaluate(_ profile: Profile, costs: CostModel) -> RuleOutcome {
        var outcome = RuleOutcome()
        var examined: UInt64 = 0
        for fetch in profile.fetches where !fetch.key.shape.sort.isEmpty {
            examined &+= fetch.counts.statements
            if let finding = finding(for: fetch, profile, costs) { outcome.findings.append(finding) }
        }
        if examined > 0 {
            outcome.examined = "\(count: examined, "sorted fetch", plural: "sorted fetches")"
        } else if let statements = profile.statementsWithoutOperations {
            outcome.examined = "the sorts of \(count: statements, "statement")"
        }
        outcome.findings += statements(profile)
        return outcome
    }

    private func finding(for fetch: FetchProfile, _ profile: Profile, _ costs: CostModel) -> Finding? {
        let counts = fetch.counts
        // An index that finds few rows also has them in order.
        guard counts.sorts > 0, !FetchIndexing(fetch: fetch, profile: profile).ordersRows else { return nil }
        let entity = profile.entity(fetch.key.shape.entity)
        let least = LimitedSort(
            counts: counts, shape: fetch.key.shape, plan: fetch.statements.commonPlan,
            columns: entity?.properties.count ?? 0
        ).rows
        let sortedRows = max(Double(counts.sortedRows), least ?? 0)
        let isEstimated = sortedRows > Double(counts.sortedRows)
        let sorted = sortedRows / Double(counts.sorts)
        let isCut = fetch.key.shape.isLimited && sorted >= Self.limitFactor.value * max(1, counts.foundRows)
        guard sorted >= Self.minimumRows.value || (isCut && sorted >= Self.minimumLimitedRows.value) else { return nil }
        let advice = SortAdvice(
            fetch: fetch, sorted: sorted, isCut: isCut, isEstimated: isEstimated, profile: profile)
        let sorting = CostModel.sorting(sorted) * Double(counts.sorts)
        // The shape's own trips include sorting, so they cannot be used.
        let estimate = costs.store
        // With an index, a limited fetch stops at its last row. Any other fetch must still read all rows.
        let saving =
            isCut
            ? estimate.range { line in
                Double(counts.time) - Double(counts.prepareTime)
                    - line.sought.cost(trips: Double(counts.executions), rows: Double(counts.rows))
            } : (min(sorting, Double(counts.time)), sorting / 2, min(sorting * 2, Double(counts.time)))
        var finding = Finding(
            rule: id, ruleName: name, title: advice.title, change: fetch.key.site,
            score: Score.of(sorted, info: Self.minimumRows.value, warning: 50_000), fix: advice.fix, code: advice.code,
            saving: Saving(time: Saving.Range(saving)),
            confidence: isCut
                ? min(.medium("the cost of sorting is estimated"), estimate.confidence(in: saving))
                : .low("the cost of sorting is assumed"),
            signature: fetch.signature(id, fetch.key.shape.sort.joined(separator: ",")))
        finding.scopes = counts.scopes.names
        finding.explanation = advice.explanation
        finding.evidence = [
            Evidence("executions", counts.executions, .count), Evidence("sorts", counts.sorts, .count),
            Evidence("sortedRows", sortedRows, .rows), Evidence("rows", counts.rows, .rows),
            Evidence("fetchTime", counts.time, .nanoseconds),
        ]
        finding.claims = [Claim.loads(fetch.key, profile)]
        finding.remedy = advice.remedy
        weigh(&finding, fetch, advice, profile, costs)
        return finding
    }

    private func weigh(
        _ finding: inout Finding, _ fetch: FetchProfile, _ advice: SortAdvice, _ profile: Profile, _ costs: CostModel
    ) {
        if let obstacle = advice.obstacle { finding.downgrade(obstacle) }
        guard
            !Significance.isMet(
                saving: finding.saving.time.median, wallTime: profile.wallTime(of: fetch.counts.scopes.keys),
                isMainThread: fetch.isOnMainThread)
        else { return }
        // The sort grows with the table, whatever it costs now.
        finding.reservations.append(Significance.notProven + (Growth(fetch, costs: costs)?.sentence ?? ""))
    }
}
