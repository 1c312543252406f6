internal import FaultlineFindings
internal import FaultlineProfile
internal import FaultlineTrace

/// R29: the same statement again, with the same values and nothing written to its tables in between.
///
/// The detector has already checked for writes and applied the threshold. The rule weighs the evidence.
struct RepeatedStatementRule: Rule {
    let id = "R29"
    let name = "Repeated statements"
    let purpose =
        "Statements that run again with the same values, although nothing was written to their tables in between."
    let kinds: Set<EventKind> = [.sql]
    var isAboutFrequency: Bool { true }

    /// The minimum number of equal runs in one group.
    static let manyTimes = Threshold("R29", "manyTimes", 5, .count, "minimum equal runs for more than a note")

    /// The mean time between runs that find nothing above which the program is polling, in nanoseconds.
    private static let pollingPause: UInt64 = 1_000_000

    func evaluate(_ profile: Profile, costs: CostModel) -> RuleOutcome {
        var outcome = RuleOutcome()
        let runs = profile.totals.outermostReads
        if runs > 0 { outcome.examined = "\(count: runs, "statement")" }
        // One statement for all values also removes the repetitions of a loop.
        let loops = Set(profile.statementLoops.map(\.key))
        let scans = Dictionary(profile.statementScans.map { ($0.key, $0.evidence.time) }) { first, _ in first }
        outcome.findings = profile.repeatedStatements.filter { !loops.contains($0.key) && $0.evidence.most > 0 }
            .compactMap { finding($0.key, $0.evidence, scanTime: scans[$0.key] ?? 0, profile) }
        return outcome
    }

    private func finding(
        _ key: StatementSite, _ evidence: RepeatedStatementEvidence, scanTime: UInt64, _ profile: Profile
    ) -> Finding? {
        let advice = RepeatedStatementAdvice(key, evidence)
        // A statement without a table, such as SELECT 1, has no result to keep.
        guard !advice.statement.isOfSQLite, advice.statement.table != nil, !StatementText.isVolatile(key.sql) else {
            return nil
        }
        // The first run is often the longest, because it reads the pages into memory. The others can be saved.
        let avoided = max(0, Double(evidence.time) - Double(evidence.longest))
        let share = 1 - Double(evidence.occurrences) / Double(max(1, evidence.executions))
        let high = max(avoided, Double(evidence.time) * share)
        // A driver and a mapper need less than a millisecond for a statement; the rest is other work of the loop.
        let isOverhead = evidence.overhead < Self.pollingPause &* evidence.executions
        let overhead = isOverhead ? Double(evidence.overhead) : 0
        var finding = Finding(
            rule: id, ruleName: name, title: advice.title, change: key.site,
            severity: Severity.of(Double(evidence.most), warning: Self.manyTimes.value, error: 25), fix: advice.fix,
            code: advice.code,
            saving: Saving(
                time: .init(median: avoided + overhead / 2, low: avoided, high: high + overhead)),
            confidence: evidence.amidWrites == 0
                ? .high : .medium("a trigger, a view or a foreign key could connect the tables"),
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
        finding.claims = [
            Claim(StatementScanDetector.self, key, balance: Double(max(evidence.time, scanTime))),
            Claim(StatementLoopDetector.self, key, balance: overhead),
        ]
        finding.remedy = .statement(
            StatementChange(
                sql: key.sql, executions: evidence.executions, rows: evidence.rows, time: evidence.time,
                kind: .once(runs: evidence.executions / max(1, evidence.occurrences))))
        // Counts alone make no error, as little time as the runs may take.
        finding.severity = min(finding.severity, Severity.warning)
        finding.weigh(
            isLongEnough: Significance.isMet(
                saving: avoided, wallTime: evidence.wallTime,
                isMainThread: Significance.isMost(evidence.mainThreadTime, of: evidence.time)),
            isLargePart: Significance.isMet(trips: finding.saving.trips, of: profile.totals.readTrips), of: "trips")
        if let reservation = key.reservation { finding.reservations.append(reservation) }
        let wait = evidence.waiting / max(1, evidence.executions)
        if evidence.rows == 0, wait >= Self.pollingPause {
            finding.downgrade(
                "It found no row each time, with \(duration: wait) in between, so the program may wait for one to be written."
            )
        }
        finding.weigh(lossyOccurrences: evidence.lossyOccurrences, of: evidence.occurrences)
        return finding
    }
}

extension RepeatedStatementRule {
    var needs: Set<TraceGap.Kind> { [.statements, .values] }

    var thresholds: [Threshold] { [RepeatedStatementDetector.threshold, Self.manyTimes] }

    var manual: RuleManual {
        RuleManual(
            trigger:
                "R29 reports at least \(Phrase.count(RepeatedStatementDetector.threshold.count)) runs of one statement "
                + "that reads, with the same values and the same number of rows, from one line on one thread, within "
                + "one scope or without a pause of 100 ms, and no write to a table that it names in between. Fewer than \(Self.manyTimes.count) "
                + "of them are reported as a note.",
            evidence:
                "The finding gives the runs, the most with one set of values, their rows and their time in SQLite.",
            fix: "Keep the result, and pass it on.",
            saving:
                "The saving is the runs' time in SQLite, minus the longest run with each set of values. The saving "
                + "includes half of the shortest time between two runs, for each run, if that is below 1 ms: the time "
                + "of the driver and of a mapper. Other statements that ran in between have equal shares in it.",
            guards: [
                "Writes of the whole process count, on any thread. A statement that is no INSERT, REPLACE, UPDATE or DELETE counts as a "
                    + "write to every table. The confidence is medium if other tables were written, because the text of a statement "
                    + "does not show what views, triggers and foreign keys reach.",
                "R29 ignores the statements of fetches, faults and saves. R18 evaluates repeated fetches.",
                "Runs in a loop with several values belong to R27.",
                "R29 ignores statements whose result can change by itself: they call random(), changes() or last_insert_rowid(), or "
                    + "ask for the time.",
                "A finding is a note if no run found a row and at least 1 ms passed between two: the program may wait for one.",
                "A write by another process between the runs is not seen.",
                "A finding is a note if the runs are less than 20 % of all statements that read rows, and their time is less than "
                    + "2 ms and less than 1 % of the time that the work took.",
            ])
    }
}

/// The wording of R29's findings.
struct RepeatedStatementAdvice {
    let statement: StatementText
    private let evidence: RepeatedStatementEvidence
    private let library: StatementLibrary?

    init(_ key: StatementSite, _ evidence: RepeatedStatementEvidence) {
        self.evidence = evidence
        statement = StatementText(key.sql)
        library = StatementLibrary(names: evidence.libraries)
    }

    /// Whether the statement looks for one row by its key.
    private var isByKey: Bool {
        statement.comparesOnlyThat && statement.comparedColumn?.lowercased() == "id"
    }

    var title: Wording {
        let times: Wording =
            evidence.occurrences == 1 ? "\(count: evidence.executions)" : "up to \(count: evidence.most)"
        guard let table = statement.table else { return "Run this statement once instead of \(times) times" }
        return "Read \(entity: table) once instead of \(times) times, and keep the result"
    }

    var fix: Wording {
        switch library {
        case .django?:
            "A queryset runs its statement each time that it is evaluated anew. Keep the objects, or cache the function that "
                + "reads them for as long as the work lasts."
        case .sqlAlchemy? where isByKey:
            "The session keeps the objects that it has read, and returns them by their keys without a statement."
        default:
            evidence.amidWrites == 0
                ? "Pass the result on, or keep it for as long as the work lasts: nothing was written that could change it."
                : "Pass the result on, or keep it until a table that it depends on is written."
        }
    }

    /// The call that reads no row a second time, if the library has one.
    var code: [String] {
        guard library == .sqlAlchemy, isByKey else { return [] }
        return ["session.get(\(StatementLibrary.modelName(of: statement.table)), key)"]
    }

    var explanation: [Wording] {
        let groups: Wording =
            evidence.occurrences == 1
            ? "" : " on \(count: evidence.occurrences) occasions, up to \(count: evidence.most) times on one"
        let writes: Wording =
            evidence.amidWrites == 0 ? "nothing was written in between" : "only other tables were written in between"
        return [
            "\(count: evidence.executions, "run") of \(code: Phrase.shortened(statement.summary, to: 90)) with the same values\(groups), "
                + "and \(writes): \(duration: evidence.time) in SQLite, and "
                + "\(duration: evidence.waiting) between them."
        ] + evidence.callers.sentences
    }
}
