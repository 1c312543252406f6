internal import FaultlineFindings
internal import FaultlineProfile
internal import FaultlineTrace

/// R27: a statement that runs once for each row of another.
///
/// The detector has already applied the threshold within a scope or a unit of work. The rule weighs the evidence.
struct StatementLoopRule: Rule {
    let id = "R27"
    let name = "Statement in a loop"
    let purpose =
        "A statement that the program runs repeatedly, for example once for each row of another statement (N+1)."
    let kinds: Set<EventKind> = [.sql]
    var isAboutFrequency: Bool { true }

    /// The minimum rows of a run for which the cost of running the statement is small in comparison.
    static let manyRows: UInt64 = 100

    /// The minimum trips saved for a warning, whatever time they take.
    static let manyTrips: Int64 = 20

    func evaluate(_ profile: Profile, costs: CostModel) -> RuleOutcome {
        var outcome = RuleOutcome()
        let runs = profile.totals.outermostReads
        if runs > 0 { outcome.examined = "\(count: runs, "statement")" }
        let found = profile.statementLoops, loops = Set(found.map(\.key))
        outcome.findings = found.compactMap { finding($0.key, $0.evidence, loops, profile) }
        return outcome
    }

    /// Whether a statement reads a table in parts: pages, lists of keys, or ranges.
    ///
    /// That is the way to read many rows, and one statement for several pages would return other rows.
    private static func readsParts(_ statement: StatementText, _ evidence: StatementLoopEvidence) -> Bool {
        let isForOneRow = statement.looksUpRows(evidence.runs)
        if statement.isPaged { return !isForOneRow }
        guard statement.hasValues, statement.comparedColumn == nil, evidence.rows > evidence.executions else {
            return false
        }
        return statement.isLimited || statement.conditions.places.contains { $0.isList || $0.slot.isColumn }
    }

    private func finding(
        _ key: StatementSite, _ evidence: StatementLoopEvidence, _ loops: Set<StatementSite>, _ profile: Profile
    ) -> Finding? {
        guard evidence.rows < Self.manyRows &* evidence.executions else { return nil }
        let advice = StatementLoopAdvice(key, evidence, among: loops)
        // A statement without a table, such as SELECT ?, has no rows to read at once.
        guard advice.statement.table != nil, !advice.statement.isOfSQLite,
            !Self.readsParts(advice.statement, evidence)
        else { return nil }
        let occurrences = max(1, evidence.occurrences)
        let own = CoreDataTable(advice.statement.table, profile)
        var finding = Finding(
            rule: id, ruleName: name, title: advice.title, change: advice.change,
            severity: Severity.of(
                Double(evidence.executions) / Double(occurrences), warning: StatementLoopDetector.threshold.value,
                error: 25),
            fix: advice.fix, code: advice.code, saving: Saving(), confidence: advice.confidence,
            signature: [id, advice.statement.summary, key.site?.function ?? ""].joined(separator: "|"))
        finding.codeLanguage = advice.language
        finding.saving.time = evidence.savedTime
        finding.saving.trips = Int64(clamping: evidence.executions) - Int64(clamping: occurrences)
        finding.seenAt = [Finding.Sighting(site: key.site, count: evidence.executions, time: evidence.time)]
        finding.subjects = [.statement(key.sql)]
        finding.scopes = evidence.scopes.names
        finding.explanation = advice.explanation
        finding.alternatives = advice.alternatives
        finding.evidence = [
            Evidence("executions", evidence.executions, .count), Evidence("occurrences", evidence.occurrences, .count),
            Evidence("rows", evidence.rows, .rows), Evidence("time", evidence.time, .nanoseconds),
            Evidence("waiting", evidence.waiting, .nanoseconds), Evidence("overhead", evidence.overhead, .nanoseconds),
            Evidence("wallTime", evidence.wallTime, .nanoseconds),
        ]
        let runs = evidence.executions / occurrences
        if evidence.readsExpired {
            finding.adviseNotExpiring(advice.subject)
        } else if advice.canReadTogether {
            finding.remedy = .statement(
                StatementChange(
                    sql: key.sql, executions: evidence.executions, rows: evidence.rows, time: evidence.time,
                    kind: advice.statement.hasValues ? .together(runs: runs) : .once(runs: runs)))
        }
        finding.claims = [
            // A run that an index makes short cannot be saved as a long one.
            Claim(StatementScanDetector.self, key, balance: Double(evidence.time)),
            Claim(StatementLoopDetector.self, key, balance: Double(evidence.overhead)),
        ]
        // The text of a statement for all rows is the reader's work, and its time is estimated.
        finding.severity = min(finding.severity, Severity.warning)
        if finding.saving.trips < Self.manyTrips, finding.saving.time.median < Significance.time.value {
            finding.downgrade(
                "It saves fewer than \(count: UInt64(Self.manyTrips), "run"), and less than \(threshold: Significance.time)."
            )
        }
        // Values that are not the rows of a statement can be those of different requests. Without row counts, nothing shows
        // whether they are rows.
        if evidence.origins.isEmpty, !profile.allProcesses.lacks(.rows),
            finding.saving.time.low < Significance.time.value
                || finding.saving.time.low < Significance.share.value * Double(profile.wallTime)
        {
            finding.downgrade(
                "The values are not the rows of another statement, and the saving may be below "
                    + "\(threshold: Significance.time) or \(threshold: Significance.share) of the run.")
        }
        if let reservation = key.reservation { finding.reservations.append(reservation) }
        if let own { own.describe(&finding, advice.statement.table ?? "", runs: evidence.executions, verb: "read") }
        let wait = evidence.waiting / max(1, evidence.executions)
        // The rows of another statement are all there, however long the program takes for each.
        if wait >= Repetition.pause, evidence.origins.isEmpty {
            finding.downgrade(forWaiting: wait, between: "runs", arriving: "values")
        }
        finding.weigh(lossyOccurrences: evidence.lossyOccurrences, of: evidence.occurrences)
        return finding
    }
}

extension StatementLoopRule {
    var needs: Set<TraceGap.Kind> { [.statements] }

    var thresholds: [Threshold] { [StatementLoopDetector.threshold] }

    var manual: RuleManual {
        RuleManual(
            trigger:
                "R27 reports at least \(Phrase.count(StatementLoopDetector.threshold.count)) runs of one statement "
                + "that reads, from one line on one thread, \(Repetition.occasion).",
            evidence:
                "The finding gives the runs, their rows and their time in SQLite, the time between them, and the "
                + "statement whose rows the loop processes: one that was open meanwhile, or that returned about as "
                + "many rows just before.",
            fix:
                "Read all rows with one statement: with a join, with IN, or with the eager loading of the mapper "
                + "(select_related and prefetch_related in Django, selectinload in SQLAlchemy, including in GRDB). If SQLAlchemy reads objects "
                + "again that a commit expired, turn expire_on_commit off.",
            saving:
                "All runs but one per loop are saved: for each of them, half of its time in SQLite, and the time that "
                + "the program, the mapper and the driver need for a run: the shortest time between two runs of the "
                + "loop, of which each other statement in between has an equal share.",
            guards: [
                "R27 ignores the statements of fetches, faults and saves, which R01 and R04 evaluate.",
                "R27 ignores runs that all have the same values, which R29 evaluates.",
                "R27 ignores statements that read a table in parts: pages, lists of keys, and ranges that return several rows.",
                "R27 ignores statements that return at least \(Phrase.count(Self.manyRows)) rows a run.",
                "A finding is a note if it saves fewer than \(Self.manyTrips) runs and less than 2 ms.",
                "A finding is a note if the runs do not process the rows of another statement, and the lower bound of the saving is "
                    + "less than 2 ms or 1 % of the run, unless the trace has no row counts.",
                "A finding is a note if the program spends at least 5 ms elsewhere between two runs, unless the loop "
                    + "processes the rows of another statement.",
            ])
    }
}
