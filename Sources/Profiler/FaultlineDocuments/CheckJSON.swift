internal import FaultlineFindings
package import FaultlineRules
internal import FaultlineTrace

extension BudgetCheck: JSONDocument {
    package static let name = "check"
    package static let title = "The outcome of a check"
    package static let summary = "The output of `faultline check --format json`."
    package static let members: JSONMembers<BudgetCheck> = [
        .init("passed", \.isPassed), .init("missing", "The events that the trace lacks.", \.missing),
        .init("traces", "The number of traces over which figures are averaged.", \.traces),
        .init("budgets", \.outcomes),
        .init("findings") {
            $0.findings.map { CheckedFinding(finding: $0.finding, state: $0.state, acceptance: $0.acceptance) }
        },
        .init("stale", "Suppressions that match no finding.", \.stale),
    ]
}

extension BudgetCheck.Outcome: JSONObject {
    package static let members: JSONMembers<BudgetCheck.Outcome> = [
        .init("scope", "Null for the whole trace.", \.limit.scope), .init("measure", \.limit.measure),
        .init("limit", "A count, nanoseconds or bytes.", \.limit.value),
        .init("figure", "The measured figure; null if it was not recorded.", \.figure), .init("isMet", \.isMet),
    ]
}

extension BudgetCheck.State: JSONWord {}

/// A finding, and how it counts toward the result of a check.
private struct CheckedFinding: JSONObject {
    let finding: Finding
    let state: BudgetCheck.State
    let acceptance: Acceptance?

    static let members: JSONMembers<CheckedFinding> = [
        .init("state", \.state), .init("finding", \.finding), .init("acceptance", \.acceptance),
    ]
}

extension Acceptance: JSONObject {
    package static let definition: String? = "acceptance"
    package static let summary = "A suppression of a finding by its name, or of a rule at a line."
    package static let members: JSONMembers<Acceptance> = [
        .optional("finding", "The finding's name.") {
            if case .finding(let signature) = $0.subject { signature } else { nil }
        },
        .optional("rule") { if case .line(_, let rule) = $0.subject { rule } else { nil } },
        .optional("site") { if case .line(let site, _) = $0.subject { site } else { nil } },
        .init("reason", \.reason),
        .init(
            "expires", "The last day on which the suppression is valid.",
            limits: [("pattern", .string("^[0-9]{4}-[0-9]{2}-[0-9]{2}$"))], \.expires),
    ]
}
