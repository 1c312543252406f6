public import FaultlineTrace

extension FoldedEntityRule {
    public var needs: Set<TraceGap.Kind> { [.model] }

    public var thresholds: [Threshold] {
        [Self.minimumRows, Self.minimumShare, Self.minimumTimeShare, Self.largestSize]
    }

    public var manual: RuleManual {
        RuleManual(
            trigger:
                "A to-one relationship with at least \(Phrase.count(FoldedEntityRule.minimumRows.count)) used source objects, of "
                + "which at least \(Phrase.percent(FoldedEntityRule.minimumShare.value)) read their destination object, each a "
                + "different one; the same holds for relationships of those destinations. Faults and prefetches over it take at "
                + "least \(Phrase.percent(FoldedEntityRule.minimumTimeShare.value)) of the store's time.",
            evidence: "Source objects that were used, destination objects that were loaded through it, trips and time.",
            fix:
                "Move the destination's attributes to the entity that always reads them, or prefetch it in every fetch.",
            saving:
                "The time of those faults and prefetches, minus half the cost of a row for each object whose values are then "
                + "loaded with it.",
            guards: [
                "A relationship that entities inherit counts as one, at the entity that declares it.",
                "If the trace has both table sizes and the destination table has fewer rows, its objects are shared, and R16 "
                    + "ignores them. For objects that no fetch loaded, and for to-many inverses, both sizes must be known.",
                "If several objects share a destination, R01 advises to prefetch it, and R16 reports nothing.",
                "Objects of at least \(Phrase.size(FoldedEntityRule.largestSize.value)) are rightly kept apart (R09).",
                "A destination that is saved separately from its source more often than it is read with it stays separate.",
                "R16 never reports more than a warning, because a model can have other reasons for separate entities.",
            ])
    }
}
