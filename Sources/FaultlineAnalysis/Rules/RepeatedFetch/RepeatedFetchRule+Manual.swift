public import FaultlineTrace

extension RepeatedFetchRule {
    public var needs: Set<TraceGap.Kind> { [.values] }

    public var manual: RuleManual {
        RuleManual(
            trigger: "Two fetches or more from one line with the same values, limit, offset and context in one "
                + "scope, with as many rows, and no write in between to any entity that the request leads "
                + "through: two to four are a note.",
            evidence: "Fetches, the most at one time, the trips and rows of those that were not needed, and time.",
            fix: "Keep the result, and pass it on. An object whose ID is known is the context's already.",
            saving: "What the fetches took, less the longest of each time.",
            guards: [
                "Saves, merges and refreshes of the entities count as writes, on any thread; of predicates "
                    + "whose way the trace does not tell any write does.",
                "Fetches at regular intervals of 100 ms or more look for what others write: a note.",
                "Without scopes a pause of 100 ms begins anew.",
                "Fetches in a loop with several values are R04's, where one fetch for all of them is worth it.",
            ])
    }
}
