/// A rule's page: what it looks for, what it advises, and what it ignores.
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

/// A rule in words: one that judges traces, or one of the two that only stores at rest are judged by.
public struct RulePage: Sendable {
    /// `"R02"`; `"S01"` of a store at rest.
    public let id: String
    public let name: String
    public let purpose: String
    public let manual: RuleManual
    /// The numbers that it judges by, where a user can set them.
    public var thresholds: [Threshold] = []

    /// All that reports and inspections name, by their numbers.
    public static let all =
        Rules.all.map { rule in
            RulePage(
                id: rule.id, name: rule.name, purpose: rule.purpose, manual: rule.manual, thresholds: rule.thresholds)
        } + [FragmentationJudge.page, PageCacheJudge.page, HistoryJudge.page]
}
