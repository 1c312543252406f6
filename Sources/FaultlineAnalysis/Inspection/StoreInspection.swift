internal import FaultlineTrace

/// What a store at rest tells of what will be slow, without a trace.
///
/// How often something is used it does not know: its findings are warnings at most, and what saves time is not told.
public struct StoreInspection: Sendable {
    public let facts: StoreFacts
    /// The gravest first.
    public let findings: [Finding]
    /// What was looked at.
    public let checks: [RuleCheck]

    /// Judges a store.
    public init(_ facts: StoreFacts) {
        self.facts = facts
        let judges: [any StoreJudge] = [
            LargeColumnJudge(), HiddenColumnJudge(), SparseTableJudge(), FoldedTableJudge(), MissingIndexJudge(),
            RedundantIndexJudge(), FragmentationJudge(), PageCacheJudge(), StatisticsJudge(),
        ]
        var found: [Finding] = []
        var checks: [RuleCheck] = []
        for judge in judges {
            let findings = judge.findings(facts)
            found += findings
            checks.append(
                RuleCheck(
                    rule: judge.rule, name: judge.name, examined: judge.examined(facts), obstacles: [],
                    findings: findings.count))
        }
        findings = found.sorted { ($0.score, $1.signature) > ($1.score, $0.signature) }
        self.checks = checks
    }
}

/// Looks for one kind of trouble in a store at rest.
protocol StoreJudge: Sendable {
    /// The rule that finds the same in a trace, or the inspection's own number.
    var rule: String { get }
    var name: String { get }

    /// What is looked at; `nil`: the store has nothing of it.
    func examined(_ facts: StoreFacts) -> String?
    func findings(_ facts: StoreFacts) -> [Finding]
}

extension StoreJudge {
    /// Rows of a table from which on it is worth a word.
    static var minimumRows: UInt64 { 500 }

    func examined(_ facts: StoreFacts) -> String? {
        facts.tables.isEmpty ? nil : Phrase.count(UInt64(facts.tables.count), "table")
    }

    /// A finding at a table, or at the file.
    func finding(
        _ title: String, in table: StoreFacts.Table? = nil, of facts: StoreFacts? = nil, score: Double, fix: String,
        code: [String] = [],
        explanation: [String], evidence: [Evidence], what: String = ""
    ) -> Finding {
        var finding = Finding(
            rule: rule, ruleName: name, title: title,
            change: table.map { CallSite(file: "", line: 0, function: "table \($0.name)") }
                ?? facts.map { CallSite(file: $0.path, line: 0) },
            score: min(score, Score.highestWarning), fix: fix, code: code, saving: Saving(), confidence: .medium,
            signature: [rule, table?.name ?? "", what].joined(separator: "|"))
        finding.explanation = explanation
        finding.evidence = evidence
        return finding
    }
}
