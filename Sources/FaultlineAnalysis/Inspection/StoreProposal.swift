/// A change to a store at rest that can be tried on a copy.
public enum StoreProposal: Sendable, Hashable {
    /// An index on one column, for the rows that refer to a row of another table.
    case createIndex(table: String, column: String)
    /// An index goes.
    case dropIndex(table: String, index: String)
    /// The file is written anew.
    case vacuum
    /// History goes, and the file is written anew.
    case purgeHistory
    /// A page cache of so many KiB instead of the one that connections have.
    case cacheSize(kibibytes: UInt64, insteadOf: UInt64)
    /// SQLite gathers statistics of these tables.
    case analyze(tables: [String])
    /// A column with large values goes into a table of its own.
    case moveOut(table: String, column: String)
    /// Columns come before one with large values.
    case reorder(table: String, large: String, hidden: [String])
    /// Each entity of a table gets one of its own.
    case split(table: String)
    /// The rows of the table that a column refers to become part of the rows that refer to them.
    case fold(table: String, column: String, into: String)
}

/// What became of a proposal on a copy of the store.
public struct StoreTrial: Sendable, Hashable {
    /// Whether the change does what it was proposed for.
    public var isConfirmed: Bool
    /// What was measured, in a sentence.
    public var sentence: Wording
    public var evidence: [Evidence] = []

    public init(isConfirmed: Bool, _ sentence: Wording, evidence: [Evidence] = []) {
        self.isConfirmed = isConfirmed
        self.sentence = sentence
        self.evidence = evidence
    }
}

/// A finding about a store at rest, and the change that would show whether it is true.
public struct StoreAdvice: Sendable {
    public var finding: Finding
    public var proposal: StoreProposal
}

/// Advice that a trial on a copy did not confirm.
public struct WithdrawnAdvice: Sendable, Hashable {
    /// The number of the rule.
    public var rule: String
    /// The advice that was withdrawn.
    public var title: Wording
    /// Why, in a sentence.
    public var reason: Wording

    public init(rule: String, title: Wording, reason: Wording) {
        self.rule = rule
        self.title = title
        self.reason = reason
    }
}
