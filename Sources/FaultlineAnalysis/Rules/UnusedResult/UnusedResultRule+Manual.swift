public import FaultlineTrace

extension UnusedResultRule {
    public var needs: Set<TraceGap.Kind> { [.use] }

    public var manual: RuleManual {
        RuleManual(
            trigger:
                "Results whose rows the program neither read nor counted, at least half of all "
                + "results of their line.",
            evidence: "Results, the unused ones, their rows, bytes and time.",
            fix: "Drop the fetch, or make it where its result is used.",
            saving: "What the fetches took.",
            guards: [
                "Faults that the row cache serves on objects of other fetches may have been what the fetch "
                    + "was for: then it is left alone.",
                "Results that the program still holds at the end are left out.",
                "It is a note if it saves little time and less than a fifth of all rows and trips.",
            ])
    }
}
