public import FaultlineTrace

extension PredicateOrderRule {
    public var needs: Set<TraceGap.Kind> { [.counters] }

    public var thresholds: [Threshold] {
        [Self.minimumRows, Self.uselessShare, SearchOrder.threshold]
    }

    public var manual: RuleManual {
        RuleManual(
            trigger: "A predicate of which all terms must hold, with a text search before a comparison of a number, a "
                + "date, a truth value or a relationship, that goes through "
                + "\(Phrase.decimal(PredicateOrderRule.minimumRows.value, places: 0)) rows or more. Or two text searches, of which "
                + "the second one leaves so much less, or has so much shorter texts, that the other order takes "
                + "\(Phrase.decimal(SearchOrder.threshold.value, places: 1)) times less.",
            evidence: "Texts that were compared, those that passed, and the rows that were found: what the cheap terms "
                + "leave over, measured.",
            fix: "The cheap terms first. SQLite asks the terms of an AND in their order where no index decides.",
            saving:
                "The time of the comparisons that are spared (some \(Phrase.duration(TextSearchCost.usual)) "
                + "each, or what SQLite took beside the scan, where the trace tells), less that of the cheap ones for the other rows. Of two "
                + "searches the share of the fetch's time, without its trip and rows, by what each leaves over and how long "
                + "its texts are.",
            guards: [
                "Where the cheap terms leave \(Phrase.percent(PredicateOrderRule.uselessShare.value)) of the rows or more, their "
                    + "order makes no difference.",
                "Where an index leads to the rows, or an OR decides, nothing is said.",
                "If no text passed, or there are several searches, half of the rows are assumed to be left over, and the confidence is low.",
                "On little data it stays a warning, says that the cost is not proven at this size, and projects ten times "
                    + "the rows.",
                "Numbers among each other are left in their order: one that is compared in vain takes some "
                    + "\(Phrase.duration(PredicateOrderRule.comparison.usual)).",
            ])
    }
}
