import FaultlineTrace

@testable import FaultlineFindings
@testable import FaultlineProfile
@testable import FaultlineRules

/// A rule that returns the given findings.
struct StubRule: Rule {
    let id = "R99"
    let name = "Stub"
    let purpose = ""
    let kinds: Set<EventKind> = []
    let manual = RuleManual(trigger: "", evidence: "", fix: "", saving: "", guards: [])
    let findings: [Finding]

    func evaluate(_ profile: Profile, costs: CostModel) -> RuleOutcome { RuleOutcome(findings: findings) }
}
