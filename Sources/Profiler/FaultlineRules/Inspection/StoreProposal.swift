package import FaultlineFindings

/// A change to a store at rest that can be tried on a copy.
package enum StoreProposal: Sendable, Hashable {
    /// Creates an index on one column, to find the rows that refer to a row of another table.
    case createIndex(table: String, column: String)
    /// Drops an index that another one makes redundant.
    case dropIndex(table: String, index: String)
    /// Drops an index that no statement of a trace uses.
    case dropUnusedIndex(table: String, index: String)
    /// Vacuums the file.
    case vacuum
    /// Deletes persistent history, and vacuums the file.
    case purgeHistory
    /// Sets the page cache to a size in KiB, instead of the connections' current size.
    case cacheSize(kibibytes: UInt64, insteadOf: UInt64)
    /// Runs `ANALYZE` on these tables.
    case analyze(tables: [String])
    /// Moves a column with large values into a table of its own.
    case moveOut(table: String, column: String)
    /// Moves columns before one with large values.
    case reorder(table: String, large: String, hidden: [String])
    /// Gives each entity of a table its own table.
    case split(table: String)
    /// Merges the rows that a column refers to into the rows that refer to them.
    case fold(table: String, column: String, into: String)
}

/// The outcome of trying a proposal on a copy of the store.
package struct StoreTrial: Sendable, Hashable {
    /// Whether the change has the effect it was proposed for.
    package var isConfirmed: Bool
    /// A sentence that states the trial's measurements.
    package var sentence: Wording
    package var evidence: [Evidence] = []

    package init(isConfirmed: Bool, _ sentence: Wording, evidence: [Evidence] = []) {
        self.isConfirmed = isConfirmed
        self.sentence = sentence
        self.evidence = evidence
    }
}

/// A finding about a store at rest, and the change that tests it.
package struct StoreAdvice: Sendable {
    package var finding: Finding
    package var proposal: StoreProposal
    /// The extent of the problem, as a multiple of that which is worth a warning.
    package var extent: Double
}

/// Advice that a trial on a copy did not confirm.
package struct WithdrawnAdvice: Sendable, Hashable {
    /// The number of the rule.
    package var rule: String
    /// The advice that was withdrawn.
    package var title: Wording
    /// The reason, as a sentence.
    package var reason: Wording

    package init(rule: String, title: Wording, reason: Wording) {
        self.rule = rule
        self.title = title
        self.reason = reason
    }
}
