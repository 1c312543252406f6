public import FaultlineTrace

/// R18: the same fetch again, with the same values and nothing written in between.
///
/// The detector has already checked for writes. The rule weighs the evidence.
public struct RepeatedFetchRule: Rule {
    public let id = "R18"
    public let name = "Repeated fetches"
    public let purpose = "Fetches that are repeated with the same values, although nothing was written in between."
    public let kinds: Set<EventKind> = [.fetch]

    /// The minimum number of equal fetches on one occasion.
    static let manyTimes = Threshold(
        "R18", "manyTimes", 5, .count, "minimum equal fetches on one occasion for more than a note")

    public var thresholds: [Threshold] { [Self.manyTimes] }

    public init() {}

    public func evaluate(_ profile: Profile, costs: CostModel) -> RuleOutcome {
        var outcome = RuleOutcome()
        // One fetch with `IN` also removes the repetitions of a loop.
        let loops = Set(
            profile.loops.filter { $0.evidence.isWorthJoining($0.key, profile) }.map(\.key.fetch))
        for (key, evidence) in profile.repeats where !loops.contains(key) {
            outcome.findings.append(finding(key, evidence, profile))
        }
        let fetches = profile.totals.events[.fetch] ?? 0
        if fetches > 0 { outcome.examined = "\(count: fetches, "fetch", plural: "fetches")" }
        let unrecorded = profile.fetches.filter { $0.key.shape.hasUnrecordedValues == true }.total(\.executions)
        if unrecorded > 0 {
            outcome.obstacles.append(
                "The trace does not show which values \(count: unrecorded, "fetch", plural: "fetches") compared.")
        }
        return outcome
    }

    private func finding(_ key: FetchProfile.Key, _ evidence: RepeatEvidence, _ profile: Profile) -> Finding {
        let advice = RepeatedFetchAdvice(shape: key.shape, evidence: evidence)
        // The first fetch is often the longest, because it reads the pages into memory. The others can be saved.
        let avoided = max(0, Double(evidence.time) - Double(evidence.longest))
        let share = 1 - Double(evidence.occurrences) / Double(evidence.executions)
        let saving = Saving.Range(median: avoided, low: avoided, high: max(avoided, Double(evidence.time) * share))
        var finding = Finding(
            rule: id, ruleName: name, title: advice.title, change: key.site,
            score: Score.of(Double(evidence.most), info: Self.manyTimes.value, warning: 25), fix: advice.fix,
            code: advice.code,
            saving: Saving(time: saving), confidence: .high,
            signature: [id, SignatureText.shape(key.shape), key.site?.function ?? ""].joined(separator: "|"))
        finding.saving.trips = Int64(clamping: evidence.trips)
        finding.saving.rows = Int64(clamping: evidence.rows)
        finding.seenAt = [Finding.Sighting(site: key.site, count: evidence.executions, time: evidence.time)]
        finding.scopes = evidence.scopes.names
        finding.explanation = advice.explanation
        finding.evidence = [
            Evidence("executions", evidence.executions, .count), Evidence("occurrences", evidence.occurrences, .count),
            Evidence("most", evidence.most, .count), Evidence("trips", evidence.trips, .trips),
            Evidence("rows", evidence.rows, .rows), Evidence("fetchTime", evidence.time, .nanoseconds),
            Evidence("longest", evidence.longest, .nanoseconds), Evidence("wallTime", evidence.wallTime, .nanoseconds),
        ]
        finding.claims = [Claim.loads(key, profile)]
        weigh(&finding, evidence, trips: profile.totals.readTrips)
        return finding
    }

    private func weigh(_ finding: inout Finding, _ evidence: RepeatEvidence, trips: UInt64) {
        finding.weigh(
            isLongEnough: Significance.isMet(
                saving: finding.saving.time.median, wallTime: evidence.wallTime,
                isMainThread: Significance.isMost(evidence.mainThreadTime, of: evidence.time)),
            isLargePart: Significance.isMet(trips: finding.saving.trips, of: trips), of: "trips")
        if Significance.isMost(evidence.regularOccurrences, of: evidence.occurrences) {
            finding.downgrade(
                "The fetches run at regular intervals, as if a timer polled for changes by others.")
        }
        finding.weigh(lossyOccurrences: evidence.lossyOccurrences, of: evidence.occurrences)
    }
}
