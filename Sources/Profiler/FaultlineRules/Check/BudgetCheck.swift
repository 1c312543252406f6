package import FaultlineFindings
internal import FaultlineProfile
internal import FaultlineTrace

/// The check of a trace against a budget.
package struct BudgetCheck: Sendable {
    /// A limit and the measured figure.
    package struct Outcome: Sendable, Hashable {
        package var limit: Budget.Limit
        /// The measured figure.
        ///
        /// For a sum of traces, it is the mean.
        ///
        /// `nil` if the scope was never opened, if it was never closed and the limit is on its time, or if the
        /// recording does not have the figure.
        package var figure: Double?

        package var isMet: Bool { figure.map { $0 <= Double(limit.value) } ?? false }
    }

    /// The effect of a finding on the result of the check.
    package enum State: String, Sendable, Hashable, CaseIterable {
        /// The finding fails the check.
        case fails
        /// The baseline has the same finding.
        case known
        /// The budget or a comment suppresses the finding.
        case accepted
        /// The suppression has expired, so the finding fails the check.
        case expired
        /// The finding is less severe than ``Budget/failing``.
        case minor

        /// Whether the finding fails the check, now or because its suppression has expired.
        package var isFailing: Bool { self == .fails || self == .expired }
    }

    package let outcomes: [Outcome]
    /// The names of the trace's scopes, the one with the longest total time first.
    package let scopes: [String]
    /// The paths of the recorded programs.
    package let programs: [String]
    /// Every finding, with the suppression that covers it, even one that has expired.
    package let findings: [(finding: Finding, state: State, acceptance: Acceptance?)]
    /// Stale suppressions, which match no finding.
    package let stale: [Acceptance]
    /// The number of events the trace lacks (``Profile/missing``).
    ///
    /// With them, a figure within its limit might exceed it.
    package let missing: UInt64
    /// The number of traces over which the whole-trace figures are averaged.
    package let traces: UInt64
    /// Whether the trace has no events and so proves nothing.
    package let isEmpty: Bool

    /// Whether the check passes.
    package var isPassed: Bool {
        missing == 0 && !isEmpty && outcomes.allSatisfy(\.isMet)
            && !findings.contains { $0.state.isFailing }
    }

    /// Checks an analysis against a budget.
    ///
    /// - Parameters:
    ///   - baseline: An analysis whose findings are known and do not fail the check. If findings share a signature, at
    ///     most as many are known as the baseline has.
    ///   - today: The current day, as `"2026-11-22"`.
    package init(_ analysis: Analysis, budget: Budget, baseline: Analysis? = nil, today: String) {
        let profile = analysis.profile
        outcomes = budget.limits.map { Outcome(limit: $0, figure: Self.figure($0, profile)) }
        scopes = profile.scopes.filter { $0.count > 0 }.map(\.key.name).uniqued
        programs = profile.programs.map(\.path)
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
        // Scopes with the same name but different kinds count as one scenario.
        let measure = Measure<ScopeSummary>.ofScopes.first { $0.name == limit.measure }
        let isTime = limit.unit == .time
        let scopes = profile.scopes.filter { $0.key.name == name && (isTime ? $0.wallTimes.count : $0.count) > 0 }
        return measure.flatMap { measure in scopes.map { Double(measure.value($0)) }.max() }
    }
}
