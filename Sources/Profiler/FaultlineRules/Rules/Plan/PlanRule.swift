internal import FaultlineFindings
internal import FaultlineProfile
internal import FaultlineTrace

/// R22: statements that SQLite runs with different plans, and tables whose size SQLite misjudges.
///
/// SQLite chooses plans by statistics that `ANALYZE` gathers (https://www.sqlite.org/lang_analyze.html) and that can
/// become stale.
struct PlanRule: Rule {
    let id = "R22"
    let name = "Changing plans"
    let purpose = "Statements with more than one plan, and plans based on old statistics."
    let kinds: Set<EventKind> = [.fetch, .sql]
    let asksSQLite = true

    /// The minimum ratio for a warning: of a plan's work to the best plan's, or between the rows that there are and
    /// that SQLite expects.
    static let minimumRatio = Threshold(
        "R22", "minimumRatio", 10.0, .factor,
        "minimum ratio to the work of the best plan, or to the rows that SQLite expects")

    private let examinations: IndexExaminations

    init() { self.init(knowing: IndexExaminations()) }

    /// - Parameter examinations: SQLite's answers about indexes for the statements of the trace.
    init(knowing examinations: IndexExaminations) { self.examinations = examinations }

    func evaluate(_ profile: Profile, costs: CostModel) -> RuleOutcome {
        var outcome = RuleOutcome()
        var examined = 0
        let old = OldStatistics.all(in: profile).map {
            (fetches: $0.indexable, finding: finding(for: $0, profile, costs))
        }
        outcome.findings = old.map(\.finding)
        // A finding about stale statistics covers several plans as well.
        let reported = Set(old.flatMap { $0.finding.severity == .note ? [] : $0.fetches.map(\.key) })
        for fetch in profile.fetches {
            for (text, plans) in fetch.statements.texts.ordered(on: \.key) {
                let known = plans.knownPlans
                examined += known.isEmpty ? 0 : 1
                if known.count > 1, !reported.contains(fetch.key) {
                    outcome.findings.append(finding(for: fetch, text, known, profile))
                }
            }
        }
        outcome.findings += examinations.findings(self, profile, analyzing: true)
        if examinations.answers > 0 {
            outcome.examined = "\(count: UInt64(examinations.answers), "statement") on a copy of the database"
        } else if examined > 0 {
            outcome.examined = "the plans of \(count: UInt64(examined), "statement")"
        }
        return outcome
    }

    private func finding(
        for fetch: FetchProfile, _ text: String, _ plans: [String: StatementTable.Runs], _ profile: Profile
    ) -> Finding {
        let ranked = plans.ordered { (Self.work($0.value), $0.key) < (Self.work($1.value), $1.key) }
        let (best, worst) = (ranked[0], ranked[ranked.count - 1])
        let ratio = Self.work(worst.value) / max(1, Self.work(best.value))
        // The time of the other plans beyond that of the best one.
        let saved = ranked.dropFirst().reduce(0) { sum, plan in
            sum + max(0, Double(plan.value.time) - Double(plan.value.count) * Self.time(best.value))
        }
        var finding = Finding(
            rule: id, ruleName: name,
            title:
                "Run ANALYZE: SQLite has \(count: plans.count) plans for the fetch of \(entity: fetch.key.shape.entity)",
            change: fetch.key.site, severity: Severity.of(ratio, warning: Self.minimumRatio.value, error: 1000),
            fix: "SQLite chooses a plan by its statistics about the tables, which can be old or differ between "
                + "stores. "
                + AnalyzeAdvice.fix + " Or declare the index that the better plan uses.",
            code: AnalyzeAdvice.code, saving: Saving(time: .init(median: saved / 2, low: 0, high: saved)),
            confidence: .low("the plans may have run on different data"),
            signature: fetch.signature(id, text))
        finding.scopes = fetch.counts.scopes.names
        finding.explanation = ranked.prefix(3).map { plan, runs in
            let steps: Wording =
                runs.virtualMachineSteps > 0 ? "\(decimal: Self.work(runs), places: 0) steps and " : ""
            return "\(code: Phrase.plan(plan)): \(count: runs.count, "run"), "
                + "\(steps)\(duration: Self.time(runs)) each."
        }
        finding.evidence = [
            Evidence("plans", Double(plans.count), .count), Evidence("workRatio", ratio, .count),
            Evidence("runs", ranked.reduce(0) { $0 &+ $1.value.count }, .count),
            Evidence("time", ranked.reduce(0) { $0 &+ $1.value.time }, .nanoseconds),
        ]
        finding.claims = [Claim.loads(fetch.key, profile)]
        finding.remedy = .analyze([fetch.key])
        if ranked.contains(where: { $0.value.virtualMachineSteps == 0 }) {
            finding.downgrade(
                "The trace does not show how much work each plan did: its runs may have found more "
                    + "rows, or fewer.")
        }
        return finding
    }

    private func finding(for old: OldStatistics, _ profile: Profile, _ costs: CostModel) -> Finding {
        let (fetch, saved) = (old.fetches[0], old.saving(costs.machine))
        var finding = Finding(
            rule: id, ruleName: name, title: title(old, profile), change: fetch.key.site,
            severity: Severity.of(
                old.difference?.size ?? Self.minimumRatio.value, warning: Self.minimumRatio.value, error: 1000),
            fix: AnalyzeAdvice.fix + " If SQLite still scans the table afterward, it has no suitable index.",
            code: AnalyzeAdvice.code,
            saving: Saving(time: .init(median: saved / 2, low: 0, high: saved)),
            confidence: .low("SQLite may keep its plan after ANALYZE"),
            signature: [id, old.entity].joined(separator: "|"))
        finding.seenAt = old.fetches.dropFirst().map(\.sighting)
        finding.scopes = old.fetches.flatMap { $0.counts.scopes.names }.uniqued
        finding.explanation = explanation(old)
        finding.evidence = [
            Evidence("executions", old.fetches.total(\.executions), .count),
            Evidence("fetchTime", old.fetches.total(\.time), .nanoseconds),
        ]
        if let difference = old.difference {
            finding.evidence += [
                Evidence("expectedRows", difference.expected, .rows), Evidence("rows", difference.rows, .rows),
            ]
        }
        finding.claims = old.indexable.map { Claim.loads($0.key, profile) }
        finding.remedy = .analyze(old.fetches.map(\.key))
        if old.indexable.isEmpty {
            finding.downgrade("Whether SQLite would choose another plan is unknown.")
            // A note is printed with its title only.
            finding.reservations += old.difference?.isScan == false ? [Self.skewed] : []
        }
        return finding
    }

    private static let skewed: Wording =
        "Values that are far more or less frequent than others look the same as old statistics, and ANALYZE does not "
        + "change them."

    private func title(_ old: OldStatistics, _ profile: Profile) -> Wording {
        guard let difference = old.difference else {
            return
                "Run ANALYZE: SQLite scans the table of \(entity: old.entity) although it has an index to search with"
        }
        let expected = Self.rows(difference.expected)
        let rows = (difference.isExact ? "" : "at least ") + Self.rows(difference.rows)
        return difference.isScan
            ? "Run ANALYZE: SQLite expects \(expected) in the table of \(entity: old.entity), which has \(rows)"
            : "ANALYZE may be out of date: SQLite expects \(expected) of \(entity: old.entity) but finds \(rows)"
    }

    private func explanation(_ old: OldStatistics) -> [Wording] {
        let fetches: Wording = "\(count: old.fetches.total(\.executions), "fetch", plural: "fetches")"
        let time = old.difference?.isScan == false ? "its values were different" : "the table was different"
        var sentences: [Wording] = [
            "SQLite chooses the plans of \(fetches) by statistics that ANALYZE gathered when "
                + "\(time)."
        ]
        let scans = old.indexable.total(\.executions)
        if scans > 0 {
            let which: Wording = "\(count: scans, "fetch", plural: "fetches") scanned the whole table"
            let why =
                (old.difference?.ratio ?? 0) > 1
                ? ", because scanning a small one is faster than searching its index" : ""
            sentences.append("\(which)\(why); one of its indexes serves the search.")
        }
        return sentences
    }

    private static func rows(_ count: Double) -> Wording {
        if count < 0.5 { return "no rows" }
        return count < 1.5 ? "\(rows: 1)" : "\(decimal: count, places: 0, of: .rows) rows"
    }

    /// The mean number of virtual machine operations of a run, or its time if the trace does not have them.
    private static func work(_ runs: StatementTable.Runs) -> Double {
        runs.virtualMachineSteps > 0 ? Double(runs.virtualMachineSteps) / Double(max(1, runs.count)) : time(runs)
    }

    private static func time(_ runs: StatementTable.Runs) -> Double { Double(runs.time) / Double(max(1, runs.count)) }
}

extension PlanRule {
    var needs: Set<TraceGap.Kind> { [.operations, .plans] }
    var needsOfStatements: Set<TraceGap.Kind> { examinations.answers > 0 ? [] : needs }

    var thresholds: [Threshold] {
        [Self.minimumRatio]
    }

    var manual: RuleManual {
        RuleManual(
            trigger:
                "R22 reports one statement text that ran with more than one plan, in one trace or in several that were "
                + "merged; it is a warning if one plan takes at least "
                + "\(Phrase.decimal(PlanRule.minimumRatio.value, places: 0)) times the steps of another. It also "
                + "reports a table, or values of an index, whose number of rows differs by a factor of at least "
                + "\(Phrase.decimal(PlanRule.minimumRatio.value, places: 0)) from what SQLite expects from ANALYZE's "
                + "statistics, if one of the two is at least \(Phrase.decimal(OldStatistics.minimumRows, places: 0)) "
                + "rows; for values, in at least \(OldStatistics.minimumSearches) runs. It reports a full scan that "
                + "returns few rows, although one of the table's indexes serves the search. In a program without an "
                + "object store, it reports statements that SQLite was asked about on a copy of the database (R06), "
                + "for which ANALYZE alone saves most of the steps.",
            evidence:
                "The finding gives the plans, the number of runs of each, its steps of SQLite's virtual machine and "
                + "its time; the rows that SQLite expected, and the rows that it visited.",
            fix: "Run ANALYZE, so that SQLite knows the tables; or declare the index that the better plan uses.",
            saving:
                "The saving is half of the time that the other plans took beyond the best one, because different data "
                + "can be a reason as well. For old statistics, it is half of the time that fetches spent scanning the "
                + "table for a few rows that one of its indexes serves.",
            guards: [
                "R22 ignores statements whose plan is not in the trace. It compares expected rows only for statements "
                    + "without joins, counts or groups.",
                "If ANALYZE has never run, SQLite has no expectations, and R22 reports no difference from them.",
                "Old statistics are a note if no fetch is known to gain from another plan.",
                "\"faultline diff\" lists the plans that changed between two traces.",
            ])
    }
}
