public import FaultlineTrace

/// Looks for one kind of trouble in a profile.
public protocol Rule: Sendable {
    /// The rule's number: `"R01"`.
    var id: String { get }
    /// Its name in words: `"N+1 faults"`.
    var name: String { get }
    /// What it looks for, in a sentence.
    var purpose: String { get }

    /// Whether its findings give way to those of other rules at the same line, whose advice goes further; by default not.
    var givesWay: Bool { get }

    /// The numbers that it judges by, where a user can set them.
    var thresholds: [Threshold] { get }

    /// What it cannot judge without; by default nothing is needed.
    ///
    /// A trace that lacks one of these is not one in which the rule found nothing: the rule is not applicable to it.
    var needs: Set<TraceGap.Kind> { get }

    /// Its page.
    var manual: RuleManual { get }

    /// What it found, in any order, and how far it could look.
    func evaluate(_ profile: Profile, costs: CostModel) -> RuleOutcome
}

extension Rule {
    public var givesWay: Bool { false }
    public var thresholds: [Threshold] { [] }
    public var needs: Set<TraceGap.Kind> { [] }
}

/// What a rule found, and how far it could look.
public struct RuleOutcome: Sendable {
    public var findings: [Finding]
    /// What was looked at: `"1,204 faults from the store"`; `nil`: there was nothing to look at.
    public var examined: Wording?
    /// Why something could not be looked at, a sentence each.
    public var obstacles: [Wording]

    public init(findings: [Finding] = [], examined: Wording? = nil, obstacles: [Wording] = []) {
        self.findings = findings
        self.examined = examined
        self.obstacles = obstacles
    }
}

/// What was checked by one rule.
public struct RuleCheck: Sendable, Hashable {
    public var rule: String
    public var name: String
    /// What was looked at; `nil`: the trace has nothing that the rule could judge.
    public var examined: Wording?
    public var obstacles: [Wording]
    /// Findings of the rule.
    public var findings: Int
    /// What the rule needs and the trace does not tell; where there is any, no finding means nothing.
    public var gaps: Set<TraceGap> = []

    /// Whether the trace has nothing that the rule could have found.
    public var isApplicable: Bool { gaps.isEmpty || findings > 0 }
}
