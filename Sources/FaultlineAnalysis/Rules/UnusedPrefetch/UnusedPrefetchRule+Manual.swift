public import FaultlineTrace

extension UnusedPrefetchRule {
    public var needs: Set<TraceGap.Kind> { [.use] }

    public var thresholds: [Threshold] {
        [Self.minimumLoads, Self.minimumRows, Self.minimumTimeShare, Self.unusedShare, Self.littleShare]
    }

    public var manual: RuleManual {
        RuleManual(
            trigger:
                "A key path that at least \(Phrase.count(UnusedPrefetchRule.minimumLoads.count)) fetches or batches prefetched, at least "
                + "\(Phrase.count(UnusedPrefetchRule.minimumRows.count, "row")) in all, of which at most \(UnusedPrefetchRule.unusedShare.text) "
                + "were used (up to \(Phrase.percent(UnusedPrefetchRule.littleShare.value)) gets different advice). Prefetching took at least "
                + "\(Phrase.percent(UnusedPrefetchRule.minimumTimeShare.value)) of the loading time, not counting what SQLite scanned or "
                + "sorted.",
            evidence:
                "Trips, rows and time of prefetching the key path, and the faults of its relationship on the objects "
                + "of the fetch, whether the store or the row cache served them.",
            fix:
                "Do not prefetch that key path, or only where it is needed. If some rows use it, fetch the "
                + "destinations of these at once.",
            saving:
                "The measured time of prefetching, including the look-ups of rows that the row cache already held, minus a "
                + "round trip for each row that was used.",
            guards: [
                "All lines that fetch with one shape are evaluated together.",
                "Fetched rows that the program never used do not count: their relationships could not be used either.",
                "A relationship without rows is not unused.",
                "R20 reports nothing if prefetching takes less time than a trip for each row that is used, so R01 and "
                    + "this rule never contradict each other.",
                "Results that the program still holds may be used later: if they are more than "
                    + "\(Phrase.percent(UnusedPrefetchRule.openShare)) of all results, R20 reports nothing.",
            ])
    }
}
