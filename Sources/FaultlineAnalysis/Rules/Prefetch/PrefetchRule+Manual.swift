public import FaultlineTrace

extension PrefetchRule {
    public var needs: Set<TraceGap.Kind> { [.origins] }

    public var thresholds: [Threshold] {
        [Self.minimumShare, FaultDetector.threshold, ReadColumns.most]
    }

    public var manual: RuleManual {
        RuleManual(
            trigger: "In one scope \(FaultDetector.threshold.count) round trips or more for as many different "
                + "objects, caused by faults of one relationship or entity at one line, whose objects came from "
                + "one fetch of two rows or more.",
            evidence: "The trips, the different objects, the rows of the fetch, the share of them whose fault "
                + "fired, the time, where the faults fired, and the slowest three of them (in the report as JSON).",
            fix: "Prefetch the key path with the fetch that the objects came from, which is the line to "
                + "change. Where less than \(Phrase.percent(PrefetchRule.minimumShare.value)) of its rows fire, fill "
                + "those that will with one batch of faults instead. Where no member of a to-many relationship was read, "
                + "count them all with one grouped fetch. Where no more than \(ReadColumns.most.text) of the objects at the "
                + "other end of a to-one relationship are read and nothing is changed, dictionaries can bring them along "
                + "instead.",
            saving: "Trips of less than \(Phrase.duration(PrefetchSaving.quick)) in the program's own process cost "
                + "little more than a prefetched row: \(Phrase.percent(1 - PrefetchSaving.kept)) of their time is saved, less "
                + "\(Phrase.duration(PrefetchSaving.statement)) for each prefetch, "
                + "\(Phrase.duration(PrefetchSaving.preparation)) to prepare its statement once, and "
                + "\(Phrase.duration(CostModel.prefetchedRow)) for each row whose relationship is looked up. Of slower trips "
                + "everything is saved but one trip for each load of rows, and the rows, both fitted from the trips of the "
                + "trace. The slowest tenth of the faults counts like the others, since what it reads has to be read all the "
                + "same.",
            guards: [
                "Faults that the row cache serves are no trips, and are left alone.",
                "A fetch of one row has nothing to prefetch for others.",
                "What a deletion fires to follow its delete rules is left out.",
                "What the fetch prefetches already is for R11 and R20.",
                "What happens in scopes of kind setup is preparation, and is left out.",
                "Where a prefetch would cost as much as the trips did, the finding is a note that says so.",
                "It is a note if it saves less than 1 % of the scopes' time and less than 2 ms (1 ms on the main thread), "
                    + "however many trips there were, or if events were lost meanwhile. It is an error only if it saves at "
                    + "least 20 ms (10 ms on the main thread).",
            ])
    }
}
