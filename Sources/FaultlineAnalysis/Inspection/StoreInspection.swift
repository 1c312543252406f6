internal import FaultlineTrace

/// What will be slow in a store at rest, without a trace.
///
/// Advice is tried on a copy of the store, and what the trial does not confirm is withdrawn. A file does not say how often
/// something is used: findings are warnings at most, and no saving is predicted.
public struct StoreInspection: Sendable {
    public let facts: StoreFacts
    /// The gravest first.
    public let findings: [Finding]
    /// What was looked at.
    public let checks: [RuleCheck]
    /// What looked like a flaw and was none when it was tried, the gravest first.
    public let withdrawn: [WithdrawnAdvice]
    /// How much advice was neither tried nor given.
    public let untried: Int

    /// Judges a store by its facts alone: all that should be tried.
    public init(_ facts: StoreFacts) {
        self.init(facts) { _ in StoreTrial(isConfirmed: true, "") }
    }

    /// Judges a store.
    ///
    /// - Parameter trial: Tries a piece of advice, the gravest first; `nil`: it could not be tried, and is not given.
    public init(_ facts: StoreFacts, trying trial: (StoreAdvice) -> StoreTrial?) {
        self.facts = facts
        let judges: [any StoreJudge] = [
            LargeColumnJudge(), HiddenColumnJudge(), SparseTableJudge(), FoldedTableJudge(), MissingIndexJudge(),
            RedundantIndexJudge(), FragmentationJudge(), HistoryJudge(), PageCacheJudge(), StatisticsJudge(),
        ]
        let advice = judges.flatMap { $0.advice(facts) }.sorted {
            ($0.finding.score, $1.finding.signature) > ($1.finding.score, $0.finding.signature)
        }
        var found: [Finding] = []
        var withdrawn: [WithdrawnAdvice] = []
        var untried = 0
        for one in advice {
            guard let outcome = trial(one) else {
                untried += 1
                continue
            }
            var finding = one.finding
            guard outcome.isConfirmed else {
                withdrawn.append(.init(rule: finding.rule, title: finding.title, reason: outcome.sentence))
                continue
            }
            if !outcome.sentence.isEmpty { finding.explanation.append("Tried on a copy: \(outcome.sentence)") }
            finding.evidence += outcome.evidence
            found.append(finding)
        }
        findings = found
        self.withdrawn = withdrawn
        self.untried = untried
        checks = judges.map { judge in
            RuleCheck(
                rule: judge.rule, name: judge.name, examined: judge.examined(facts), obstacles: [],
                findings: found.count { $0.ruleName == judge.name })
        }
    }
}

/// Looks for one kind of trouble in a store at rest.
protocol StoreJudge: Sendable {
    /// The rule that finds the same in a trace, or the inspection's own number.
    var rule: String { get }
    var name: String { get }

    /// What is looked at; `nil`: the store has nothing of it.
    func examined(_ facts: StoreFacts) -> Wording?
    func advice(_ facts: StoreFacts) -> [StoreAdvice]
}

extension StoreJudge {
    /// Minimum number of rows of a table that is judged.
    static var minimumRows: UInt64 { 500 }

    func examined(_ facts: StoreFacts) -> Wording? {
        facts.tables.isEmpty ? nil : "\(count: facts.tables.count, "table")"
    }

    /// A finding at a table, or at the file.
    func finding(
        _ title: Wording, in table: StoreFacts.Table? = nil, of facts: StoreFacts? = nil, score: Double, fix: Wording,
        code: [String] = [], alternatives: [Wording] = [],
        explanation: [Wording], evidence: [Evidence], what: String = "", trying proposal: StoreProposal
    ) -> StoreAdvice {
        var finding = Finding(
            rule: rule, ruleName: name, title: title,
            change: table.map { CallSite(file: "", line: 0, function: "table \($0.name)") }
                ?? facts.map { CallSite(file: $0.path, line: 0) },
            score: min(score, Score.highestWarning), fix: fix, code: code, saving: Saving(), confidence: .medium,
            signature: [rule, table?.name ?? "", what].joined(separator: "|"))
        finding.explanation = explanation
        finding.alternatives = alternatives
        finding.evidence = evidence
        return StoreAdvice(finding: finding, proposal: proposal)
    }
}
