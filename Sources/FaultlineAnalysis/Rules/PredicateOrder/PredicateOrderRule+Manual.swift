public import FaultlineTrace

extension PredicateOrderRule {
    public var needs: Set<TraceGap.Kind> { [.counters] }

    public var thresholds: [Threshold] {
        [Self.minimumRows, Self.uselessShare, SearchOrder.threshold]
    }

    public var manual: RuleManual {
        RuleManual(
            trigger: "A predicate whose terms must all match, with a text search before a comparison of a number, a "
                + "date, a Boolean or a relationship, that scans at least "
                + "\(Phrase.decimal(PredicateOrderRule.minimumRows.value, places: 0)) rows. Also two text searches, "
                + "if their written order costs at least "
                + "\(Phrase.decimal(SearchOrder.threshold.value, places: 1)) times as much as the other order, because "
                + "the second search is more selective or compares shorter texts.",
            evidence: "Texts that were compared, texts that passed, and rows that were found, which give the "
                + "selectivity of the cheap terms.",
            fix: "Put the cheap terms first. SQLite evaluates the terms of an AND in order unless an index decides.",
            saving:
                "The time of the text comparisons that are avoided (about \(Phrase.duration(TextSearchCost.usual)) "
                + "each, or SQLite's time without the scan if the trace has it), minus the time of comparing the "
                + "cheap terms in the other rows. For two searches: the share of the fetch's time, without its trip "
                + "and rows, that follows from the selectivity of each search and the length of its texts.",
            guards: [
                "If more than \(Phrase.percent(PredicateOrderRule.uselessShare.value)) of the rows match the cheap "
                    + "terms, their order makes no difference, and R07 reports nothing.",
                "It reports nothing if an index seeks the rows, or if the predicate has an OR.",
                "If no text passed, or there are several searches, R07 assumes that half of the rows match the other "
                    + "terms, and the confidence is low.",
                "On little data the finding stays a warning, says that the cost is not proven at this size, and "
                    + "projects the saving at ten times the rows.",
                "R07 does not reorder comparisons of numbers: an unneeded one takes about "
                    + "\(Phrase.duration(PredicateOrderRule.comparison.usual)).",
            ])
    }
}
