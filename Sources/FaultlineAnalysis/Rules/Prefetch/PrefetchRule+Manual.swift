public import FaultlineTrace

extension PrefetchRule {
    public var needs: Set<TraceGap.Kind> { [.origins] }

    public var thresholds: [Threshold] {
        [Self.minimumShare, FaultDetector.threshold, ReadColumns.most]
    }

    public var manual: RuleManual {
        RuleManual(
            trigger:
                "In one scope, at least \(FaultDetector.threshold.count) round trips for as many different objects, caused by "
                + "faults of one relationship or entity at one line, on objects that came from one fetch of at least two rows.",
            evidence:
                "The trips, the different objects, the rows of the fetch, the share of them whose fault fired, the time, where "
                + "the faults fired, and the slowest three of them (in the report as JSON).",
            fix:
                "Prefetch the key path with the fetch that the objects came from, which is the line to change. If fewer than "
                + "\(Phrase.percent(PrefetchRule.minimumShare.value)) of the fetched objects fire a fault, load what those need with one "
                + "fetch instead. If no member of a to-many relationship was read, count all members with one grouped fetch. If at most "
                + "\(ReadColumns.most.text) attributes of a to-one destination are read and nothing is changed, a dictionary fetch can "
                + "include them instead.",
            saving:
                "SQLite runs in the program's own process, where a trip of less than \(Phrase.duration(PrefetchSaving.quick)) costs little more "
                + "than a prefetched row: \(Phrase.percent(1 - PrefetchSaving.kept)) of its time is saved, minus "
                + "\(Phrase.duration(PrefetchSaving.statement)) for each prefetch, \(Phrase.duration(PrefetchSaving.preparation)) to "
                + "prepare its statement once, and \(Phrase.duration(CostModel.prefetchedRow)) for each row whose relationship is looked "
                + "up. These figures were measured on several machines. For slower trips, the saving is their total time minus one trip per load and the cost of the rows, both fitted "
                + "from the trace. The slowest 10 % of the faults count with the typical time of the others, because a prefetch has to read their pages as well.",
            guards: [
                "R01 ignores faults that the row cache serves: they make no trips.",
                "It ignores fetches of one row, for which a prefetch would save no trip.",
                "It ignores faults that a deletion fires to follow its delete rules.",
                "Relationships that the fetch already prefetches belong to R11 and R20.",
                "It ignores scopes of kind setup, which are preparation.",
                "Where a prefetch would cost as much as the trips did, the finding is a note that says so.",
                "The finding is a note if it saves less than 1 % of the time of the occasions in which the faults fired and less than 2 ms (1 ms on the main thread), "
                    + "however many trips there were, or if events were lost meanwhile. It is an error only if it saves at "
                    + "least 20 ms (10 ms on the main thread).",
            ])
    }
}
