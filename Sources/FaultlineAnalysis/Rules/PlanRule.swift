internal import FaultlineTrace

/// R22: one statement that SQLite runs with different plans.
///
/// SQLite chooses by statistics, which `ANALYZE` gathers (https://www.sqlite.org/lang_analyze.html) and which grow old.
public struct PlanRule: Rule {
    public let id = "R22"
    public let name = "Changing plans"
    public let purpose = "Statements for which SQLite has more than one plan."

    /// How many times the work of the best plan another one does, from which on it is worth a warning.
    static let minimumRatio = 10.0

    public init() {}

    public func evaluate(_ profile: Profile, costs: CostModel) -> RuleOutcome {
        var outcome = RuleOutcome()
        var examined = 0
        for fetch in profile.fetches {
            for (text, plans) in fetch.statements.texts.sorted(by: { $0.key < $1.key }) {
                let known = plans.knownPlans
                examined += known.isEmpty ? 0 : 1
                if known.count > 1 { outcome.findings.append(finding(for: fetch, text, known, profile)) }
            }
        }
        if examined > 0 {
            outcome.examined = "the plans of \(Phrase.count(UInt64(examined), "statement"))"
        }
        return outcome
    }

    private func finding(
        for fetch: FetchProfile, _ text: String, _ plans: [String: StatementTable.Runs], _ profile: Profile
    ) -> Finding {
        let ranked = plans.sorted { (Self.work($0.value), $0.key) < (Self.work($1.value), $1.key) }
        let (best, worst) = (ranked[0], ranked[ranked.count - 1])
        let ratio = Self.work(worst.value) / max(1, Self.work(best.value))
        // What the others took beyond what the best one takes.
        let saved = ranked.dropFirst().reduce(0) { sum, plan in
            sum + max(0, Double(plan.value.time) - Double(plan.value.count) * Self.time(best.value))
        }
        var finding = Finding(
            rule: id, ruleName: name,
            title: "Run ANALYZE: SQLite has \(plans.count) plans for the fetch of \(fetch.key.shape.entity)",
            change: fetch.key.site, score: Score.of(ratio, info: Self.minimumRatio, warning: 1000),
            fix:
                "SQLite chooses by what it knows of the tables, which can be old or different from store to store: run ANALYZE "
                + "after large imports, or declare the index that the better plan uses.",
            code: ["ANALYZE;"], saving: Saving(time: .init(median: saved / 2, low: 0, high: saved)), confidence: .low,
            signature: fetch.signature(id, text))
        finding.scopes = fetch.counts.scopes.names
        finding.explanation = ranked.prefix(3).map { plan, runs in
            "\(Phrase.plan(plan)): \(Phrase.count(runs.count, "run")), "
                + "\(Phrase.decimal(Self.work(runs), places: 0)) steps and \(Phrase.duration(Self.time(runs))) each."
        }
        finding.evidence = [
            Evidence("plans", Double(plans.count), .count), Evidence("workRatio", ratio, .count),
            Evidence("runs", ranked.reduce(0) { $0 &+ $1.value.count }, .count),
            Evidence("time", ranked.reduce(0) { $0 &+ $1.value.time }, .nanoseconds),
        ]
        finding.claims = [BatchSizeRule.claim(fetch.key, profile)]
        return finding
    }

    /// Operations of SQLite's virtual machine in a run, on average.
    private static func work(_ runs: StatementTable.Runs) -> Double {
        Double(runs.virtualMachineSteps) / Double(max(1, runs.count))
    }

    private static func time(_ runs: StatementTable.Runs) -> Double { Double(runs.time) / Double(max(1, runs.count)) }
}
