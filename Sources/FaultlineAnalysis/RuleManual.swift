/// What a rule's page says: how it looks, what it advises, and what it leaves alone.
public struct RuleManual: Sendable, Hashable {
    /// What there must be for a finding.
    public var trigger: String
    /// What a finding rests on, in numbers.
    public var evidence: String
    /// What to do.
    public var fix: String
    /// How the saving is worked out.
    public var saving: String
    /// What is no finding, or a note only, and why: a sentence each.
    public var guards: [String]
}
