package import FaultlineFindings
package import FaultlineProfile
package import FaultlineTrace

/// Looks for one kind of problem in a profile.
package protocol Rule: Sendable {
    /// The rule's number, such as `"R01"`.
    var id: String { get }
    /// The rule's name, such as `"N+1 faults"`.
    var name: String { get }
    /// A sentence about what the rule looks for.
    var purpose: String { get }
    /// The kinds of the events that its findings rest on.
    var kinds: Set<EventKind> { get }

    /// Whether its findings give way to findings of other rules at the same line, whose advice is better.
    ///
    /// The default is false.
    var givesWay: Bool { get }

    /// Whether its findings are about how often operations run, and not about the time that each of them takes.
    ///
    /// The default is false.
    var isAboutFrequency: Bool { get }

    /// Whether SQLite's answers about indexes change its findings.
    ///
    /// The default is false.
    var asksSQLite: Bool { get }

    /// The thresholds that a user can set.
    ///
    /// The default is none.
    var thresholds: [Threshold] { get }

    /// The kinds of data the rule needs.
    ///
    /// The default is none.
    ///
    /// If a trace lacks one of them, the rule is not applicable. That is different from a rule that found nothing.
    var needs: Set<TraceGap.Kind> { get }

    /// The kinds of data the rule needs if the trace has no operations of an object store, but statements.
    ///
    /// The default is those of ``needs``.
    var needsOfStatements: Set<TraceGap.Kind> { get }

    /// The rule's manual page.
    var manual: RuleManual { get }

    /// Evaluates a profile.
    ///
    /// Returns the findings in any order, and what the rule could examine.
    func evaluate(_ profile: Profile, costs: CostModel) -> RuleOutcome
}

extension Rule {
    package var givesWay: Bool { false }
    package var isAboutFrequency: Bool { false }
    package var asksSQLite: Bool { false }
    package var thresholds: [Threshold] { [] }
    package var needs: Set<TraceGap.Kind> { [] }
    package var needsOfStatements: Set<TraceGap.Kind> { needs }
}

/// The findings of a rule, and what it could examine.
package struct RuleOutcome: Sendable {
    package var findings: [Finding]
    /// The number of examined things, such as `"1,204 faults from the store"`, or `nil` if there were none.
    package var examined: Wording?
    /// Sentences that explain what could not be examined, and why.
    package var obstacles: [Wording]

    package init(findings: [Finding] = [], examined: Wording? = nil, obstacles: [Wording] = []) {
        self.findings = findings
        self.examined = examined
        self.obstacles = obstacles
    }
}

/// The check that one rule made.
package struct RuleCheck: Sendable, Hashable {
    package var rule: String
    package var name: String
    /// The number of examined things, such as `"1,204 faults from the store"`, or `nil` if the trace has none.
    package var examined: Wording?
    package var obstacles: [Wording]
    /// The number of the rule's findings.
    package var findings: Int
    /// The data that the rule needs but the trace lacks.
    ///
    /// If there are gaps, the absence of findings proves nothing.
    package var gaps: Set<TraceGap> = []

    /// Whether the rule could evaluate the trace.
    package var isApplicable: Bool { gaps.isEmpty || findings > 0 }
}
