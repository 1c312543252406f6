internal import FaultlineTrace

/// Pages that SQLite finds by stepping over all rows before them.
extension UnboundedFetchRule {
    /// The minimum mean of reported offsets, and the minimum ratio of skipped rows to returned ones.
    static let minimumOffset = Threshold(
        "R14", "minimumOffset", 1000, .count, "minimum average offset of a fetch")
    static let offsetFactor = 10.0
    /// The maximum small offset, as a share of the largest.
    private static let nearShare = 0.05

    func paged(_ fetch: FetchProfile, _ profile: Profile, _ costs: CostModel) -> Finding? {
        let counts = fetch.counts
        let mean = Double(counts.skippedRows) / Double(max(1, counts.offsetFetches))
        guard mean >= Self.minimumOffset.value,
            Double(counts.skippedRows) >= Self.offsetFactor * Double(counts.rows)
        else { return nil }
        let measured = Self.measured(fetch)
        let step = costs.machine.steppedRow
        let skipped = Double(counts.skippedRows)
        let saving =
            measured
            ?? Saving.Range(
                (step.usual * skipped, step.least * skipped, step.most * skipped)
            ).limited(to: counts.runTime)
        let advice = OffsetAdvice(fetch: fetch, step: measured.map { $0.median / skipped })
        var finding = Finding(
            rule: id, ruleName: name, title: advice.title, change: fetch.key.site,
            score: Score.of(mean, info: Self.minimumOffset.value, warning: 50 * Self.minimumOffset.value),
            fix: advice.fix, code: advice.code, saving: Saving(time: saving),
            confidence: measured == nil
                ? .low("the cost of skipping a row is assumed")
                : saving.high - saving.low <= saving.median / 2 ? .high : .medium("the range of the saving is wide"),
            signature: fetch.signature(id, "offset"))
        finding.seenAt = [fetch.sighting]
        finding.scopes = counts.scopes.names
        finding.explanation = advice.explanation
        finding.alternatives = advice.alternatives
        finding.evidence = [
            Evidence("executions", counts.executions, .count), Evidence("offsetFetches", counts.offsetFetches, .count),
            Evidence("skippedRows", counts.skippedRows, .rows), Evidence("largestOffset", counts.largestOffset, .rows),
            Evidence("rows", counts.rows, .rows), Evidence("fetchTime", counts.time, .nanoseconds),
        ]
        finding.claims = [Claim.loads(fetch.key, profile)]
        if !Significance.isMet(
            saving: saving.median, wallTime: profile.wallTime(of: counts.scopes.keys),
            isMainThread: fetch.isOnMainThread)
        {
            finding.downgrade(Significance.notProven)
        }
        return finding
    }

    /// The time of all fetches beyond the time of fetches with small offsets, which every page would take if it
    /// continued after the last row of the previous one.
    ///
    /// `nil` if there are too few fetches with a small offset, or the others took less.
    private static func measured(_ fetch: FetchProfile) -> Saving.Range? {
        let counts = fetch.counts
        let near = Double(counts.largestOffset) * nearShare
        let pages = fetch.pages.loads.filter { Double($0.rows) <= near }.map { Double($0.duration) }.sorted()
        guard pages.count >= 3 else { return nil }
        let at = { (share: Double) in
            pages[Int((share * Double(pages.count - 1)).rounded())] * Double(counts.executions)
        }
        let typical = min(fetch.speeds.typicalTime, counts.runTime)
        // No page is faster than one with a small offset. If some seem to be, something else delayed the first pages.
        guard typical >= at(0.5) else { return nil }
        return Saving.Range((typical - at(0.5), typical - at(0.75), counts.runTime - at(0.25)))
    }
}
