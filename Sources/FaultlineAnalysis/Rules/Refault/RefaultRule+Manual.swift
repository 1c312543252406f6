public import FaultlineTrace

extension RefaultRule {
    public var needs: Set<TraceGap.Kind> { [.operations] }

    public var thresholds: [Threshold] {
        [Self.minimumMisses, Self.minimumShare, Self.minimumTimes]
    }

    public var manual: RuleManual {
        RuleManual(
            trigger:
                "\(Phrase.count(RefaultRule.minimumMisses.count)) faults or more of one entity that go to the store from one "
                + "line, \(Phrase.percent(RefaultRule.minimumShare.value)) of them or more for objects whose row had been in memory; "
                + "or one object that goes to the store \(Phrase.count(RefaultRule.minimumTimes.count)) times in one scope.",
            evidence:
                "Those faults and their time, and what came between two uses: a refresh or reset, or the loading of "
                + "other rows. Of the latter the sizes of a row cache with which so many in a hundred would have been hits, the "
                + "limit that it has, and the line that most of the rows were read for.",
            fix:
                "No refresh or reset before the objects are used again; or a reference to them, one context for the work, or "
                + "a higher limit of the row cache.",
            saving: "The time of those faults.",
            guards: [
                "Where a save or a merge changed objects of the entity in between, reading them again is right.",
                "Where most of what is read is large values, these fill the row cache, and R09 comes first.",
                "The first fault of an object is none of it.",
                "What R01 claims of the same faults is not claimed twice.",
            ])
    }
}
