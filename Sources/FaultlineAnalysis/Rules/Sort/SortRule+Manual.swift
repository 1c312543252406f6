public import FaultlineTrace

extension SortRule {
    public var needs: Set<TraceGap.Kind> { [.plans] }

    public var thresholds: [Threshold] {
        [Self.minimumRows, Self.minimumLimitedRows, Self.limitFactor]
    }

    public var manual: RuleManual {
        RuleManual(
            trigger:
                "A fetch whose rows SQLite sorted, \(Phrase.decimal(SortRule.minimumRows.value, places: 0)) of them "
                + "or more; or \(Phrase.decimal(SortRule.minimumLimitedRows.value, places: 0)), of which there are "
                + "\(SortRule.limitFactor.text) for each that a limit lets through.",
            evidence: "Fetches, sorts, rows that were sorted and returned, and time. Where a predicate picks among the "
                + "rows and a limit among those, the steps of SQLite's virtual machine tell how many were sorted at "
                + "least; where SQLite's counters are not told, its plan tells of the sort.",
            fix: "An index with what is compared for equality first, then the sort keys with their directions; "
                + "or no sort where the order does not matter.",
            saving: "With a limit what the fetch took, less a trip and its rows; without one what sorting so many "
                + "rows is assumed to take (50 ns a comparison).",
            guards: [
                "An order of texts that no index has (localized, or without case), and a key in another "
                    + "table, are explained and a note.",
                "On little data it stays a warning and says that the cost is not proven at this size. It projects ten "
                    + "times the rows where at least \(Growth.minimumFetches) fetches and a plan are evidence for it.",
            ])
    }
}
