internal import FaultlineTrace

/// R03: rows that are loaded and not used, objects of which only the identity is, and long values that nobody reads.
///
/// What a batch size cures is R02's, what is counted R05's, and values of many kilobytes are R09's.
public struct OverFetchRule: Rule {
    public let id = "R03"
    public let name = "Over-fetch"
    public let purpose = "Rows or values that fetches load and nobody uses."

    public init() {}

    public func evaluate(_ profile: Profile, costs: CostModel) -> RuleOutcome {
        var outcome = RuleOutcome()
        var results: UInt64 = 0
        let values = UnreadValues(profile)
        for fetch in profile.fetches where fetch.key.shape.resultType == "objects" {
            results &+= fetch.total(\.executions)
            // Of rows that need not be loaded nobody asks what of them is.
            let found = rows(of: fetch, profile, costs) ?? values.finding(of: fetch, rule: self, profile, costs)
            if let found { outcome.findings.append(found) }
        }
        if results > 0 { outcome.examined = "the use of \(Phrase.count(results, "result"))" }
        return outcome
    }

    private func rows(of fetch: FetchProfile, _ profile: Profile, _ costs: CostModel) -> Finding? {
        guard let waste = UnusedRows(of: fetch, profile, costs) else { return nil }
        let estimate = costs.rows(of: fetch.key.shape)
        let identity = costs.identities(of: fetch.key.shape).line
        let saving = estimate.range { line in
            switch waste.kind {
            case .first, .scattered: Double(waste.rows) * line.row
            case .identities: Double(waste.rows) * max(0, line.row - identity.row)
            }
        }
        var finding = Finding(
            rule: id, ruleName: name, title: waste.title, change: fetch.key.site,
            score: Score.of(waste.figure, info: 1, warning: 20), fix: waste.fix, code: waste.code,
            saving: Saving(time: Saving.Range(saving)), confidence: min(.medium, estimate.confidence),
            signature: fetch.signature(id, waste.what))
        finding.saving.rows = Int64(clamping: waste.rows)
        finding.saving.bytes = Int64(saturating: waste.bytes)
        finding.saving.memory = Int64(saturating: waste.bytes / Double(waste.tally.executions))
        finding.seenAt = fetch.readers
        finding.scopes = fetch.counts.scopes.names
        finding.explanation = waste.explanation
        finding.evidence = [
            Evidence("executions", waste.tally.executions, .count), Evidence("rows", waste.tally.rows, .rows),
            Evidence("touchedRows", waste.tally.touchedRows, .rows),
            Evidence("mostTouched", waste.tally.mostTouched, .rows), Evidence("bytes", waste.tally.bytes, .bytes),
        ]
        finding.claims = [BatchSizeRule.claim(fetch.key, profile)]
        finding.remedy = waste.remedy(for: fetch.key)
        let isLongEnough = Significance.isMet(
            saving: saving.median, wallTime: profile.wallTime(of: fetch.counts.scopes.keys),
            isMainThread: fetch.isOnMainThread)
        finding.weigh(
            isLongEnough: isLongEnough,
            isLargePart: Significance.isMet(rows: finding.saving.rows, of: profile.totals.rowsLoaded),
            of: "rows")
        return finding
    }
}
