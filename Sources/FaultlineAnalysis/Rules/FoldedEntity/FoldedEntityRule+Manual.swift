public import FaultlineTrace

extension FoldedEntityRule {
    public var needs: Set<TraceGap.Kind> { [.model] }

    public var thresholds: [Threshold] {
        [Self.minimumRows, Self.minimumShare, Self.minimumTimeShare, Self.largestSize]
    }

    public var manual: RuleManual {
        RuleManual(
            trigger:
                "A to-one relationship of \(Phrase.count(FoldedEntityRule.minimumRows.count)) or more used objects, of which "
                + "\(Phrase.percent(FoldedEntityRule.minimumShare.value)) or more asked for the object at its end, each for another "
                + "one; likewise of the objects that such a relationship leads to; faults and prefetching over it take \(Phrase.percent(FoldedEntityRule.minimumTimeShare.value)) of the "
                + "store's time or more.",
            evidence:
                "Objects that were used, objects at the other end that came into memory through it, trips and time.",
            fix:
                "The attributes at the other end move to the entity that always reads them; or every fetch prefetches it.",
            saving: "The time of those faults and prefetches, less half a row for each object whose values come along.",
            guards: [
                "A relationship that entities inherit counts as one, at the entity that declares it.",
                "Where the trace tells how large both tables are and that at the end has fewer rows, several share them; of "
                    + "objects that a fetch does not bring itself, and of relationships whose inverse is to-many, the sizes must "
                    + "be known.",
                "Where several objects share one at the other end, R01 advises to prefetch, and this rule says nothing.",
                "Objects of \(Phrase.size(FoldedEntityRule.largestSize.value)) and more are kept apart for good reason (R09).",
                "What is saved apart from the entity that leads to it more often than it is read with it stays apart.",
                "It is never more than a warning: a model has other reasons too.",
            ])
    }
}
