internal import FaultlineTrace

/// Whether a trace keeps within a budget.
public struct BudgetCheck: Sendable {
    /// A limit and what there was.
    public struct Outcome: Sendable, Hashable {
        public var limit: Budget.Limit
        /// The figure, of a sum of traces the mean.
        ///
        /// `nil`: the scope was never opened, or never closed where its time is asked for, or whoever recorded the trace
        /// does not tell it.
        public var figure: Double?

        public var isMet: Bool { figure.map { $0 <= Double(limit.value) } ?? false }
    }

    /// What a finding means for the outcome.
    public enum State: String, Sendable, Hashable {
        /// It fails the check.
        case fails
        /// The baseline has it too.
        case known
        /// The budget accepts it.
        case accepted
        /// The budget accepted it up to a day that is over: it fails the check.
        case expired
        /// It is less severe than what fails.
        case minor
    }

    public let outcomes: [Outcome]
    /// Every finding, with the acceptance that it has or had.
    public let findings: [(finding: Finding, state: State, acceptance: Acceptance?)]
    /// Acceptances that fit no finding.
    public let stale: [Acceptance]
    /// What is missing in the trace (``Profile/missing``): what keeps within its limits without it may not with it.
    public let missing: UInt64
    /// Traces that the figures of the whole are means of.
    public let traces: UInt64
    /// Whether the trace has no events, which prove nothing.
    public let isEmpty: Bool

    /// Whether nothing fails.
    public var isPassed: Bool {
        missing == 0 && !isEmpty && outcomes.allSatisfy(\.isMet)
            && !findings.contains { $0.state == .fails || $0.state == .expired }
    }

    /// Checks an analysis.
    ///
    /// - Parameters:
    ///   - baseline: What is known already; its findings fail no check. Of equal names as many are known as it has.
    ///   - today: The day, as `"2026-11-22"`.
    public init(_ analysis: Analysis, budget: Budget, baseline: Analysis? = nil, today: String) {
        let profile = analysis.profile
        outcomes = budget.limits.map { Outcome(limit: $0, figure: Self.figure($0, profile)) }
        missing = profile.missing
        traces = max(1, profile.recordingCount)
        isEmpty = profile.totals.eventCount == 0
        var known = (baseline?.findings ?? []).reduce(into: [:]) { $0[$1.signature, default: 0] += 1 }
        findings = analysis.findings.map { finding in
            let acceptance = budget.accepted.first { $0.covers(finding) }
            let isKnown = known[finding.signature, default: 0] > 0
            if isKnown { known[finding.signature, default: 0] -= 1 }
            let state: State =
                if budget.failing.map({ finding.severity < $0 }) ?? true {
                    .minor
                } else if isKnown {
                    .known
                } else if let acceptance {
                    acceptance.expires.map { $0 < today } ?? false ? .expired : .accepted
                } else {
                    .fails
                }
            return (finding, state, acceptance)
        }
        stale = budget.accepted.filter { acceptance in !analysis.findings.contains { acceptance.covers($0) } }
    }

    private static func figure(_ limit: Budget.Limit, _ profile: Profile) -> Double? {
        guard let name = limit.scope else {
            guard let measure = Measure<ProfileCounts>.ofTraces.first(where: { $0.name == limit.measure }),
                measure.needs.map({ profile.allProcesses.partlyLacks($0) }) != true
            else { return nil }
            return Double(measure.value(profile.totals)) / Double(max(1, profile.recordingCount))
        }
        // Scopes of one name and different kinds are one scenario.
        let measure = Measure<ScopeSummary>.ofScopes.first { $0.name == limit.measure }
        let isTime = limit.unit == .time
        let scopes = profile.scopes.filter { $0.key.name == name && (isTime ? $0.wallTimes.count : $0.count) > 0 }
        return measure.flatMap { measure in scopes.map { Double(measure.value($0)) }.max() }
    }
}
