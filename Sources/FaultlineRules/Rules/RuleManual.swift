public import FaultlineProfile

/// A rule's manual page: what it looks for, what it advises, and what it ignores.
public struct RuleManual: Sendable, Hashable {
    /// The conditions for a finding.
    public var trigger: String
    /// The numbers that a finding is based on.
    public var evidence: String
    /// The advice.
    public var fix: String
    /// How the saving is computed.
    public var saving: String
    /// Sentences that explain what the rule ignores or reports only as a note, and why.
    public var guards: [String]
}

/// The description of a rule, whether it evaluates traces or only stores at rest.
public struct RulePage: Sendable {
    /// The number, such as `"R02"`, or `"S01"` for a rule that evaluates stores at rest.
    public let id: String
    public let name: String
    public let purpose: String
    public let manual: RuleManual
    /// The thresholds that a user can set.
    public var thresholds: [Threshold] = []
}
