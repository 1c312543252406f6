public import FaultlineTrace

extension OverFetchRule {
    public var needs: Set<TraceGap.Kind> { [.use] }

    public var thresholds: [Threshold] {
        [
            ResultDemand.share, ResultDemand.minimumExecutions, ResultDemand.minimumRowsFetched,
            ResultDemand.touchedShare, UnreadValues.share, UnreadValues.minimumSize,
        ]
    }

    public var manual: RuleManual {
        RuleManual(
            trigger: "\(ResultDemand.minimumExecutions.text) results of one line or more, with "
                + "\(ResultDemand.minimumRowsFetched.text) rows in all, of which no more than the first few were used, or "
                + "\(ResultDemand.touchedShare.text) of the rows at most; whose identities alone were used; or long values, "
                + "\(UnreadValues.share.text) of a row and \(UnreadValues.minimumSize.text) or more, that no fetch of that "
                + "shape reads.",
            evidence: "Results, their rows, those that were touched, the most of one result, and bytes; of values "
                + "the bytes that nobody read.",
            fix: "A limit, a predicate that says which rows are used, object IDs in place of objects, or the "
                + "value in an entity of its own.",
            saving:
                "The cost per row of the unused rows. If SQLite scans the table for them, the limit spares that part of the scan "
                + "as well; if SQLite sorts the rows itself, about half of their cost remains. For values: the part of "
                + "the loading time that their bytes and pages took; if SQLite also scans or sorts other rows, the cost of the "
                + "bytes in all of these rows.",
            guards: [
                "Lists that scroll show more than their first rows in time, and are left to R02.",
                "Results that the program still holds at the end may yet be used: nine in ten must be over.",
                "Objects of which nothing was read may have been read where nobody sees it, so that values "
                    + "count only where nine in ten rows were read.",
                "It is a note if it saves little time and less than a fifth of all rows.",
            ])
    }
}
