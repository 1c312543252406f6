public import FaultlineTrace

extension PreparationRule {
    public var needs: Set<TraceGap.Kind> { [.counters] }

    public var thresholds: [Threshold] {
        [Self.minimumPreparations, Self.minimumShare]
    }

    public var manual: RuleManual {
        RuleManual(
            trigger: "Fetches of one shape and line of which every second one or more had its statement prepared, "
                + "\(Phrase.count(PreparationRule.minimumPreparations.count)) times or more, and preparing took "
                + "\(PreparationRule.minimumShare.text) of their time or more.",
            evidence: "Preparations, fetches, the number of different texts, and the time of preparing.",
            fix:
                "One text for all values: paging by key instead of by offset, few limits; or a container that is kept.",
            saving: "The time of all preparations but one.",
            guards: [
                "A statement that is prepared once and kept is left alone, whatever that takes.",
                "A saving below 1 % of the time that the work took and below 2 ms is a note.",
            ])
    }
}
