public import FaultlineTrace

extension SortRule {
    public var needs: Set<TraceGap.Kind> { [.plans] }

    public var thresholds: [Threshold] {
        [Self.minimumRows, Self.minimumLimitedRows, Self.limitFactor]
    }

    public var manual: RuleManual {
        RuleManual(
            trigger:
                "A fetch for which SQLite sorted at least \(Phrase.decimal(SortRule.minimumRows.value, places: 0)) "
                + "rows; or, for a fetch with a limit, at least "
                + "\(Phrase.decimal(SortRule.minimumLimitedRows.value, places: 0)) rows and at least "
                + "\(SortRule.limitFactor.text) times as many as it returned. In a program without an object store, statements "
                + "that sort a whole table by columns and return as few of its rows.",
            evidence: "Fetches, sorts, rows sorted and returned, and time. If a fetch has a predicate and a limit, "
                + "the steps of SQLite's virtual machine give a minimum of the rows sorted. If the trace lacks "
                + "SQLite's counters, its plan shows the sort.",
            fix: "Declare an index with the columns compared for equality first, then the sort keys with their "
                + "directions. If the order does not matter, leave the sort descriptors out.",
            saving: "With a limit: the fetches' time, minus one trip each and the cost of the returned rows. Without "
                + "one: the assumed cost of sorting as many rows (50 ns per comparison).",
            guards: [
                "If no index can have the texts in the sort order (localized, or case-insensitive), or a sort key is "
                    + "in another table, the finding explains this and is a note.",
                "On little data the finding stays a warning and says that the cost is not proven at this size. It "
                    + "projects the time at ten times the rows if the trace has the plan and at least "
                    + "\(Growth.minimumFetches) of the fetches.",
            ])
    }
}
