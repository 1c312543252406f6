public import FaultlineTrace

/// R29: the same statement again, with the same values and nothing written in between.
///
/// The detector has already checked for writes and applied the threshold. The rule weighs the evidence.
public struct RepeatedStatementRule: Rule {
    public let id = "R29"
    public let name = "Repeated statements"
    public let purpose = "Statements that run again with the same values, although nothing was written in between."
    public let kinds: Set<EventKind> = [.sql]

    /// The minimum number of equal runs in one group.
    static let manyTimes = Threshold("R29", "manyTimes", 5, .count, "minimum equal runs for more than a note")

    public init() {}

    public func evaluate(_ profile: Profile, costs: CostModel) -> RuleOutcome {
        var outcome = RuleOutcome()
        let runs = profile.totals.outermostReads
        if runs > 0 { outcome.examined = "\(count: runs, "statement")" }
        // One statement for all values also removes the repetitions of a loop.
        let loops = Set(profile.statementLoops.map(\.key))
        let scans = Dictionary(profile.statementScans.map { ($0.key, $0.evidence.time) }) { first, _ in first }
        outcome.findings = profile.repeatedStatements.filter { !loops.contains($0.key) }
            .compactMap { finding($0.key, $0.evidence, scanTime: scans[$0.key] ?? 0, profile) }
        return outcome
    }

    private func finding(
        _ key: StatementSite, _ evidence: RepeatedStatementEvidence, scanTime: UInt64, _ profile: Profile
    ) -> Finding? {
        let advice = RepeatedStatementAdvice(key, evidence)
        // A statement without a table, such as SELECT 1, has no result to keep.
        guard !advice.statement.isOfSQLite, advice.statement.table != nil else { return nil }
        // The first run is often the longest, because it reads the pages into memory. The others can be saved.
        let avoided = max(0, Double(evidence.time) - Double(evidence.longest))
        let share = 1 - Double(evidence.occurrences) / Double(max(1, evidence.executions))
        let high = max(avoided, Double(evidence.time) * share)
        var finding = Finding(
            rule: id, ruleName: name, title: advice.title, change: key.site,
            score: Score.of(Double(evidence.most), info: Self.manyTimes.value, warning: 25), fix: advice.fix,
            code: advice.code, saving: Saving(time: .init(median: avoided, low: avoided, high: high)),
            confidence: .high,
            signature: [id, advice.statement.summary, key.site?.function ?? ""].joined(separator: "|"))
        finding.codeLanguage = "python"
        finding.saving.trips = Int64(clamping: evidence.executions) - Int64(clamping: evidence.occurrences)
        finding.seenAt = [Finding.Sighting(site: key.site, count: evidence.executions, time: evidence.time)]
        finding.subjects = [.statement(key.sql)]
        finding.scopes = evidence.scopes.names
        finding.explanation = advice.explanation
        finding.evidence = [
            Evidence("executions", evidence.executions, .count), Evidence("occurrences", evidence.occurrences, .count),
            Evidence("most", evidence.most, .count), Evidence("rows", evidence.rows, .rows),
            Evidence("time", evidence.time, .nanoseconds), Evidence("longest", evidence.longest, .nanoseconds),
            Evidence("waiting", evidence.waiting, .nanoseconds), Evidence("wallTime", evidence.wallTime, .nanoseconds),
        ]
        // An index for the same statement saves part of the same time.
        finding.claims = [Claim(StatementScanDetector.self, key, balance: Double(max(evidence.time, scanTime)))]
        finding.remedy = .statement(
            StatementChange(
                sql: key.sql, executions: evidence.executions, rows: evidence.rows, time: evidence.time,
                kind: .once(runs: evidence.executions / max(1, evidence.occurrences))))
        // Counts alone make no error, as little time as the runs may take.
        finding.score = min(finding.score, Score.highestWarning)
        finding.weigh(
            isLongEnough: Significance.isMet(
                saving: avoided, wallTime: evidence.wallTime,
                isMainThread: Significance.isMost(evidence.mainThreadTime, of: evidence.time)),
            isLargePart: Significance.isMet(trips: finding.saving.trips, of: profile.totals.readTrips), of: "trips")
        if let reservation = key.reservation { finding.reservations.append(reservation) }
        finding.weigh(lossyOccurrences: evidence.lossyOccurrences, of: evidence.occurrences)
        return finding
    }
}
