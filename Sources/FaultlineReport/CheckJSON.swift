public import FaultlineAnalysis
internal import FaultlineTrace

/// The outcome of a check as JSON.
public struct CheckJSON: Sendable {
    /// The version of the keys.
    ///
    /// It increases when a key is removed or changes its meaning.
    public static let version = 1

    let check: BudgetCheck

    public init(_ check: BudgetCheck) {
        self.check = check
    }

    /// Returns the JSON, with a trailing line feed.
    public func render() -> String {
        JSONValue.sorted([
            "version": .integer(Int64(Self.version)), "passed": .bool(check.isPassed),
            "missing": .unsigned(check.missing), "traces": .unsigned(check.traces),
            "budgets": .array(
                check.outcomes.map { outcome in
                    .sorted([
                        "scope": .optional(outcome.limit.scope), "measure": .string(outcome.limit.measure),
                        "limit": .unsigned(outcome.limit.value), "figure": outcome.figure.map { .number($0) } ?? .null,
                        "isMet": .bool(outcome.isMet),
                    ])
                }),
            "findings": .array(
                check.findings.map { finding, state, acceptance in
                    .sorted([
                        "state": .string(state.rawValue), "finding": FindingJSON.value(finding),
                        "acceptance": acceptance.map(Self.acceptance) ?? .null,
                    ])
                }),
            "stale": .array(check.stale.map(Self.acceptance)),
        ]).indented + "\n"
    }

    private static func acceptance(_ acceptance: Acceptance) -> JSONValue {
        var members: [String: JSONValue] = [
            "reason": .string(acceptance.reason), "expires": .optional(acceptance.expires),
        ]
        switch acceptance.subject {
        case .finding(let signature): members["finding"] = .string(signature)
        case .line(let site, let rule): (members["site"], members["rule"]) = (SiteJSON.value(site), .string(rule))
        }
        return .sorted(members)
    }
}
