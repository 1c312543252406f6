internal import FaultlineTrace

/// The change that lets an index serve a text search.
enum TextSearchRemedy: Sendable, Hashable {
    /// The words of the text in rows of their own, found by their beginning.
    case words
    /// A copy of the text without what the comparison disregards.
    case folded
    /// A copy of the text from its end to its beginning.
    case reversed
    /// The same as a plain prefix, or as a plain comparison.
    case prefix, equality
    /// A plain prefix in front of it.
    case narrowed

    /// `nil`: an index can serve the term, or nothing can.
    init?(_ term: ShapeEntry.Term) {
        // Rows that do not fulfil a term are most of them, which no index finds.
        guard term.isNegated != true, term.operand == "value" else { return nil }
        // What was folded beforehand is compared as plain texts are.
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
