public import FaultlineFindings
public import FaultlineProfile
public import FaultlineTrace

/// Looks for one kind of problem in a profile.
public protocol Rule: Sendable {
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
    public var givesWay: Bool { false }
    public var isAboutFrequency: Bool { false }
    public var thresholds: [Threshold] { [] }
    public var needs: Set<TraceGap.Kind> { [] }
    public var needsOfStatements: Set<TraceGap.Kind> { needs }
}

/// The findings of a rule, and what it could examine.
public struct RuleOutcome: Sendable {
    public var findings: [Finding]
    /// The number of examined things, such as `"1,204 faults from the store"`, or `nil` if there were none.
    public var examined: Wording?
    /// Sentences that explain what could not be examined, and why.
    public var obstacles: [Wording]

    public init(findings: [Finding] = [], examined: Wording? = nil, obstacles: [Wording] = []) {
        self.findings = findings
        self.examined = examined
        self.obstacles = obstacles
    }
}

/// The check that one rule made.
public struct RuleCheck: Sendable, Hashable {
    public var rule: String
    public var name: String
    /// The number of examined things, such as `"1,204 faults from the store"`, or `nil` if the trace has none.
    public var examined: Wording?
    public var obstacles: [Wording]
    /// The number of the rule's findings.
    public var findings: Int
    /// The data that the rule needs but the trace lacks.
    ///
    /// If there are gaps, the absence of findings proves nothing.
    public var gaps: Set<TraceGap> = []

    /// Whether the rule could evaluate the trace.
    public var isApplicable: Bool { gaps.isEmpty || findings > 0 }
}
