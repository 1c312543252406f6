public import FaultlineTrace

extension UnusedPrefetchRule {
    public var needs: Set<TraceGap.Kind> { [.use] }

    public var thresholds: [Threshold] {
        [Self.minimumLoads, Self.minimumRows, Self.minimumTimeShare, Self.unusedShare, Self.littleShare]
    }

    public var manual: RuleManual {
        RuleManual(
            trigger:
                "A key path that \(Phrase.count(UnusedPrefetchRule.minimumLoads.count)) fetches or batches or more "
                + "prefetched, \(Phrase.count(UnusedPrefetchRule.minimumRows.count, "row")) or more in all, of which "
                + "\(UnusedPrefetchRule.unusedShare.text) at most was used; or up to \(Phrase.percent(UnusedPrefetchRule.littleShare.value)), with other advice. Prefetching took "
                + "\(Phrase.percent(UnusedPrefetchRule.minimumTimeShare.value)) of the loading or more, not counting what SQLite scanned or sorted beside it.",
            evidence:
                "Trips, rows and time of prefetching the key path, and the faults of its relationship on the objects "
                + "of the fetch, whether the store or the row cache served them.",
            fix:
                "No prefetch of that key path, or only where it is needed; where some rows use it, one fetch for these.",
            saving:
                "The measured time of prefetching, including the look-ups of rows that the row cache already held, minus a "
                + "round trip for each row that was used.",
            guards: [
                "All lines that fetch with one shape are judged together.",
                "Rows of the fetch that nobody touched do not count: what leads from them could not be used.",
                "A relationship without rows is not unused.",
                "Where prefetching takes less time than a trip for each row that is used, the rule says nothing, so that R01 and "
                    + "this rule never contradict each other.",
                "Results that the program still holds may yet be used: with more than "
                    + "\(Phrase.percent(UnusedPrefetchRule.openShare)) of them nothing is said.",
            ])
    }
}
