public import FaultlineTrace

/// R26: operations that failed, and faults whose rows were gone.
public struct FailureRule: Rule {
    public let id = "R26"
    public let name = "Failures"
    public let purpose =
        "Fetches and saves that failed, and faults that found no row, after which objects read as their default values."
    public let kinds: Set<EventKind> = [.fetch, .batch, .fault, .save, .sql]

    /// The minimum number of failures of one line that is reported.
    static let minimumFailures = Threshold(
        "R26", "minimumFailures", 1, .count, "minimum failures of one line")

    public init() {}

    public func evaluate(_ profile: Profile, costs: CostModel) -> RuleOutcome {
        var outcome = RuleOutcome()
        let operations = profile.groups.filter { FailureDetector.kinds.contains($0.key.kind) }
        let examined = operations.reduce(0) { $0 &+ $1.count }
        if examined > 0 {
            outcome.examined = "\(count: examined, "fetch, fault or save", plural: "fetches, faults and saves")"
        }
        outcome.findings = profile.evidence(of: FailureDetector.self).compactMap { finding($0.key, $0.evidence) }
        return outcome
    }

    private func finding(_ key: FailureEvidence.Key, _ evidence: FailureEvidence) -> Finding? {
        guard evidence.failures >= Self.minimumFailures.count else { return nil }
        let advice = FailureAdvice(key: key, evidence: evidence)
        var finding = Finding(
            rule: id, ruleName: name, title: advice.title, change: key.site,
            // The program does not notice that a fault failed, so its failures weigh more.
            score: Score.of(
                Double(evidence.failures), info: Self.minimumFailures.value, warning: key.kind == .fault ? 10 : 100),
            fix: advice.fix, code: advice.code, saving: Saving(), confidence: .high,
            signature: ([id, key.kind.name, advice.cause.rawValue, key.site?.function ?? ""] + key.entities)
                .joined(separator: "|"))
        finding.scopes = evidence.scopes.names
        finding.explanation = advice.explanation
        finding.evidence = [
            Evidence("failures", evidence.failures, .count), Evidence("gone", evidence.gone, .count),
            Evidence("conflicts", evidence.conflicts, .count), Evidence("time", evidence.time, .nanoseconds),
        ]
        return finding
    }
}
