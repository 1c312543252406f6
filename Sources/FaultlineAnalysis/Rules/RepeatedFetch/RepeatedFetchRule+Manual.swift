public import FaultlineTrace

extension RepeatedFetchRule {
    public var needs: Set<TraceGap.Kind> { [.values] }

    public var manual: RuleManual {
        RuleManual(
            trigger:
                "At least two fetches from one line with the same values, limit, offset and context in one scope, with the same number "
                + "of rows, and no write in between to any entity on the request's key paths. Fewer than \(RepeatedFetchRule.manyTimes.count) of them are reported as a note.",
            evidence:
                "Fetches, the most on one occasion, the trips and rows of the unneeded fetches, and time.",
            fix:
                "Keep the result, and pass it on. If the ID is known, get the object from the context.",
            saving:
                "The fetches' total time, minus the longest fetch of each occasion.",
            guards: [
                "Saves, merges and refreshes of the entities count as writes, on any thread; if the trace does not record "
                    + "a predicate's key paths, any write counts.",
                "Fetches at regular intervals of at least 100 ms poll for changes by others, and the finding is a "
                    + "note.",
                "Without scopes, a pause of 100 ms begins a new occasion.",
                "Fetches in a loop with several values belong to R04, if one fetch for all of them pays.",
            ])
    }
}
