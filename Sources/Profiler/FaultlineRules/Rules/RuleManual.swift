package import FaultlineProfile

/// A rule's manual page: what it looks for, what it advises, and what it ignores.
package struct RuleManual: Sendable, Hashable {
    /// The conditions for a finding.
    package var trigger: String
    /// The numbers that a finding is based on.
    package var evidence: String
    /// The advice.
    package var fix: String
    /// How the saving is computed.
    package var saving: String
    /// Sentences that explain what the rule ignores or reports only as a note, and why.
    package var guards: [String]
}

/// The description of a rule, whether it evaluates traces or only stores at rest.
package struct RulePage: Sendable {
    /// The number, such as `"R02"`, or `"S01"` for a rule that evaluates stores at rest.
    package let id: String
    package let name: String
    package let purpose: String
    package let manual: RuleManual
    /// The thresholds that a user can set.
    package var thresholds: [Threshold] = []
}
