public import FaultlineTrace

extension UnusedResultRule {
    public var needs: Set<TraceGap.Kind> { [.use] }

    public var manual: RuleManual {
        RuleManual(
            trigger:
                "Results whose rows the program neither read nor counted, if they are at least half of all results of "
                + "their line.",
            evidence: "Results, the unused ones, their rows, bytes and time.",
            fix: "Drop the fetch, or move it to where its result is used.",
            saving: "The total time of the fetches whose results are unused.",
            guards: [
                "R17 ignores a fetch whose rows served faults on objects of other fetches from the row cache, because "
                    + "that may have been its purpose.",
                "It ignores results that the program still holds at the end.",
                "The finding is a note if it saves little time and less than a fifth of all rows and trips.",
            ])
    }
}
