package import FaultlineTrace

extension ShapeEntry {
    /// Whether it searches texts row by row, so that an index would help.
    package var isSearch: Bool { terms?.contains { TextSearchRemedy($0) != nil } ?? false }
}

/// The change that lets an index serve a text search.
package enum TextSearchRemedy: Sendable, Hashable {
    /// Keep the words of the text in rows of their own, and search their beginnings.
    case words
    /// Keep a copy of the text without the differences that the comparison ignores.
    case folded
    /// Keep a reversed copy of the text.
    case reversed
    /// Use an equivalent plain prefix search, or a plain comparison.
    case prefix, equality
    /// Add a plain prefix search before it.
    case narrowed

    /// Returns `nil` if an index can serve the term, or if no change can help.
    package init?(_ term: ShapeEntry.Term) {
        // Most rows match a negated term, so no index helps.
        guard term.isNegated != true, term.operand == "value" else { return nil }
        // A text that was folded beforehand is compared like plain text.
        switch (term.operation, term.isFolded == true ? nil : term.options) {
        case ("CONTAINS", _): self = .words
        case ("ENDSWITH", _): self = .reversed
        case ("MATCHES", _): self = .narrowed
        case ("LIKE", let options):
            switch term.wildcards {
            case "none": self = options == nil ? .equality : .folded
            case "trailing": self = options == nil ? .prefix : .folded
            case "inner": self = .narrowed
            default: self = .words
            }
        case ("!=", _), (_, nil): return nil
        case (_, _?): self = .folded
        }
    }
}
