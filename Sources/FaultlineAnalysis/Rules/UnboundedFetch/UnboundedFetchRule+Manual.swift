public import FaultlineTrace

extension UnboundedFetchRule {
    public var needs: Set<TraceGap.Kind> { [.operations] }

    public var thresholds: [Threshold] {
        [FetchProfile.manyRows, Self.minimumBytes, Self.minimumSlope, Self.minimumOffset]
    }

    public var manual: RuleManual {
        RuleManual(
            trigger: "A fetch without limit and batch size with \(Phrase.count(FetchProfile.manyRows.count)) "
                + "rows or \(UnboundedFetchRule.minimumBytes.text) at once; or with \(UnboundedFetchRule.grownRows) rows and a "
                + "result that gets at least \(UnboundedFetchRule.minimumSlope.text) of the rows that its table grows by "
                + "between runs. Runs are processes, of one trace or of profiles that were merged. Also fetches whose "
                + "offsets pass over at least \(UnboundedFetchRule.minimumOffset.count) rows on average, and ten times the rows "
                + "that they return.",
            evidence: "Results, rows, the most of one result, bytes, and runs in which the table's rows are known.",
            fix: "A batch size, so that rows are loaded as they are reached; or a limit, and a predicate on "
                + "the sort key for the next page.",
            saving:
                "Memory that need not be held at a time; an unbounded fetch takes no less time. Of pages the time beyond "
                + "what pages with a small offset take or, without these, the cost of passing over each row: "
                + "measured on the machine, or assumed.",
            guards: [
                "Scopes of kind bulk say that everything is worked through.",
                "Tables of fewer rows that are looked up in are left alone, unless they are seen to grow: the largest "
                    + "table of the runs must have twice the rows of the smallest.",
                "How many rows a table has is told by fetches that go through it or ask for all of it, in the same run.",
                "Where fewer rows are needed, R02, R03, R05 and R17 say what to do.",
                "Where the trace does not tell what was done with the rows, as logs of SQLDebug do not, it says so.",
                "It is never an error.",
            ])
    }
}
