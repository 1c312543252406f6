public import FaultlineTrace

extension UnboundedFetchRule {
    public var needs: Set<TraceGap.Kind> { [.operations] }
    public var needsOfStatements: Set<TraceGap.Kind> { [.statements, .counters] }

    public var thresholds: [Threshold] {
        [FetchProfile.manyRows, Self.minimumBytes, Self.minimumSlope, Self.minimumOffset]
    }

    public var manual: RuleManual {
        RuleManual(
            trigger: "A fetch without a limit or batch size that returns at least "
                + "\(Phrase.count(FetchProfile.manyRows.count)) rows or \(UnboundedFetchRule.minimumBytes.text) at "
                + "once; or at least \(UnboundedFetchRule.grownRows) rows, if the result gains at least "
                + "\(UnboundedFetchRule.minimumSlope.text) as many rows as its table between runs. Runs are "
                + "processes, of one trace or of profiles that were merged. Also fetches whose offsets skip at least "
                + "\(Phrase.count(UnboundedFetchRule.minimumOffset.count)) rows on average, and ten times the rows that they return. "
                + "In a program without an object store: such offsets of statements, and statements without a limit that return at least "
                + "\(Phrase.count(FetchProfile.manyRows.count)) rows to Django's querysets or GRDB's fetchAll, which keep them all. "
                + "Below \(Phrase.decimal(UnboundedFetchRule.seriousRows, places: 0)) rows, these are notes.",
            evidence: "Results, rows, the rows of the largest result, bytes, and runs in which the size of the table "
                + "is known.",
            fix: "Set a batch size, so that rows are loaded as they are reached; or a limit, with a predicate on the "
                + "sort key for the next page.",
            saving:
                "Memory that need not be held at once; a bounded fetch saves no time. For pages: the time beyond that "
                + "of pages with a small offset or, without these, the cost of stepping over each skipped row, "
                + "measured on the machine or assumed.",
            guards: [
                "If a statement does not scan the whole table, SQLite does not count the rows that it skips. R14 then estimates them "
                    + "from the steps of its virtual machine: the shortest run of a statement at a line counts as its first page, and "
                    + "a skipped row as three steps.",
                "R14 ignores scopes of kind bulk, which mark work on all rows.",
                "Below \(Phrase.count(FetchProfile.manyRows.count)) rows, R14 ignores results from look-up tables, which do not grow: the table must have twice as many rows in "
                    + "one run as in another.",
                "The size of a table is known in runs with a fetch that scans it or asks for all of it.",
                "If fewer rows are needed, R02, R03, R05 and R17 give the advice.",
                "If the trace does not show how the rows were used, as with logs of SQLDebug, the finding says so.",
                "R14 never reports an error.",
            ])
    }
}
