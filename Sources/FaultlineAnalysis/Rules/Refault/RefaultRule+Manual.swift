public import FaultlineTrace

extension RefaultRule {
    public var needs: Set<TraceGap.Kind> { [.operations] }

    public var thresholds: [Threshold] {
        [Self.minimumMisses, Self.minimumShare, Self.minimumTimes]
    }

    public var manual: RuleManual {
        RuleManual(
            trigger:
                "At least \(Phrase.count(RefaultRule.minimumMisses.count)) faults of one entity that go to the store "
                + "from one line, at least \(Phrase.percent(RefaultRule.minimumShare.value)) of them for objects "
                + "whose row had been in memory; or one object that goes to the store at least "
                + "\(Phrase.count(RefaultRule.minimumTimes.count)) times in one scope.",
            evidence:
                "These faults and their time, and what happened between two uses: a refresh or reset, or the loading "
                + "of other rows. For the latter, the sizes of a row cache that would have reached given hit rates, "
                + "the cache's limit, and the line that read most of the rows.",
            fix:
                "Do not refresh or reset objects before they are used again; or keep a reference to them, use one "
                + "context for the work, or raise the limit of the row cache (rowCacheLimit of the store's description, in bytes).",
            saving: "The time of these faults.",
            guards: [
                "If a save or a merge changed objects of the entity in between, they had to be read again.",
                "If most of the bytes read are large values, these fill the row cache, and R09 comes first.",
                "The first fault of an object does not count.",
                "The faults of a finding of R01 can show up here as well; their saving is counted once, there.",
            ])
    }
}
