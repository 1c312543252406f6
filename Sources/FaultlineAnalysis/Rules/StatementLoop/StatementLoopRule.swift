public import FaultlineTrace

/// R27: a statement that runs once for each row of another.
///
/// The detector has already applied the threshold within a scope or a unit of work. The rule weighs the evidence.
public struct StatementLoopRule: Rule {
    public let id = "R27"
    public let name = "Statement in a loop"
    public let purpose =
        "A statement that the program runs repeatedly, for example once for each row of another statement (N+1)."
    public let kinds: Set<EventKind> = [.sql]

    /// The minimum rows of a run for which the cost of running the statement is small in comparison.
    static let manyRows: UInt64 = 100

    public init() {}

    public func evaluate(_ profile: Profile, costs: CostModel) -> RuleOutcome {
        var outcome = RuleOutcome()
        let runs = profile.totals.outermostReads
        if runs > 0 { outcome.examined = "\(count: runs, "statement")" }
        outcome.findings = profile.statementLoops.compactMap { finding($0.key, $0.evidence, profile) }
        return outcome
    }

    /// Whether a statement reads a table in parts: pages, lists of keys, or ranges.
    ///
    /// That is the way to read many rows, and one statement for several pages would return other rows.
    private static func readsParts(_ statement: StatementText, _ evidence: StatementLoopEvidence) -> Bool {
        let isForOneRow = statement.comparedColumn != nil && evidence.rows <= evidence.executions
        if statement.isPaged { return !isForOneRow }
        guard statement.hasValues, statement.comparedColumn == nil, evidence.rows > evidence.executions else {
            return false
        }
        return statement.isLimited || statement.conditions.places.contains { $0.isList || $0.slot.isColumn }
    }

    private func finding(_ key: StatementSite, _ evidence: StatementLoopEvidence, _ profile: Profile) -> Finding? {
        guard evidence.rows < Self.manyRows &* evidence.executions else { return nil }
        let advice = StatementLoopAdvice(key, evidence)
        // A statement without a table, such as SELECT ?, has no rows to read at once.
        guard advice.statement.table != nil, !advice.statement.isOfSQLite,
            !Self.readsParts(advice.statement, evidence)
        else { return nil }
        let occurrences = max(1, evidence.occurrences)
        var finding = Finding(
            rule: id, ruleName: name, title: advice.title, change: advice.change,
            score: Score.of(
                Double(evidence.executions) / Double(occurrences), info: StatementLoopDetector.threshold.value,
                warning: 25),
            fix: advice.fix, code: advice.code, saving: Saving(), confidence: advice.confidence,
            signature: [id, advice.statement.summary, key.site?.function ?? ""].joined(separator: "|"))
        finding.codeLanguage = advice.language
        finding.saving.trips = Int64(clamping: evidence.executions) - Int64(clamping: occurrences)
        finding.seenAt = [Finding.Sighting(site: key.site, count: evidence.executions, time: evidence.time)]
        finding.subjects = [.statement(key.sql)]
        finding.scopes = evidence.scopes.names
        finding.explanation = advice.explanation
        finding.alternatives = advice.alternatives
        finding.evidence = [
            Evidence("executions", evidence.executions, .count), Evidence("occurrences", evidence.occurrences, .count),
            Evidence("rows", evidence.rows, .rows), Evidence("time", evidence.time, .nanoseconds),
            Evidence("waiting", evidence.waiting, .nanoseconds), Evidence("wallTime", evidence.wallTime, .nanoseconds),
        ]
        let runs = evidence.executions / occurrences
        if evidence.readsExpired {
            finding.adviseNotExpiring(advice.subject)
        } else {
            finding.remedy = .statement(
                StatementChange(
                    sql: key.sql, executions: evidence.executions, rows: evidence.rows, time: evidence.time,
                    kind: advice.statement.hasValues ? .together(runs: runs) : .once(runs: runs)))
        }
        let isLongEnough = Significance.isMet(
            saving: Double(evidence.time) / 2, wallTime: evidence.wallTime,
            isMainThread: Significance.isMost(evidence.mainThreadTime, of: evidence.time))
        // How much time is saved is not known, so it makes no error.
        finding.score = min(finding.score, Score.highestWarning)
        finding.weigh(
            isLongEnough: isLongEnough,
            isLargePart: Significance.isMet(trips: finding.saving.trips, of: profile.totals.readTrips), of: "trips")
        if let reservation = key.reservation { finding.reservations.append(reservation) }
        let wait = evidence.waiting / max(1, evidence.executions)
        if wait >= Repetition.pause { finding.downgrade(forWaiting: wait, between: "runs", arriving: "values") }
        finding.weigh(lossyOccurrences: evidence.lossyOccurrences, of: evidence.occurrences)
        return finding
    }
}
