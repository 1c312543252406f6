public import FaultlineTrace

extension PreparationRule {
    public var needs: Set<TraceGap.Kind> { [.counters] }

    public var thresholds: [Threshold] {
        [Self.minimumPreparations, Self.minimumShare]
    }

    public var manual: RuleManual {
        RuleManual(
            trigger:
                "Fetches of one shape and line that prepare at least half of their statements, at least "
                + "\(Phrase.count(PreparationRule.minimumPreparations.count)) times, and spend at least "
                + "\(PreparationRule.minimumShare.text) of their time on it. In a program without an object store, statements at one "
                + "line that are prepared for at least half of their runs, at least as often, and take at least that share of the "
                + "time of both.",
            evidence: "Preparations, fetches, the number of different texts, and the time spent preparing.",
            fix:
                "Use one statement text for all values: page by key instead of by offset, and use few different "
                + "limits. Or keep the container. Elsewhere, keep the statement, or let the library's cache find it: with parameters "
                + "instead of values in its text.",
            saving: "The time of all preparations but one.",
            guards: [
                "R21 ignores a statement that is prepared once and kept, however long that takes.",
                "In a program without an object store, the slowest tenth of the preparations and of the runs count as if they took "
                    + "as long as the slowest of the others: a thread that waits for a CPU takes a thousand times as long.",
                "The finding is a note if it saves less than 1 % of the time that the work took and less than 2 ms.",
            ])
    }
}
