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
            trigger:
                "At least \(ResultDemand.minimumExecutions.text) results of one line, with "
                + "\(ResultDemand.minimumRowsFetched.text) rows in all, if the program used only the first few or at most "
                + "\(ResultDemand.touchedShare.text) of the rows; or used only the object IDs; or long values, at least "
                + "\(UnreadValues.share.text) of a row and \(UnreadValues.minimumSize.text), that no fetch of that shape reads.",
            evidence:
                "Results, their rows, the rows that were used, the most rows used of one result, and bytes; for "
                + "values, the unread bytes.",
            fix:
                "Set a limit, select the used rows in the predicate, fetch object IDs instead of objects, or move the "
                + "values into an entity of their own.",
            saving:
                "The cost per row of the unused rows. If SQLite scans the table for them, the limit spares that part of the scan "
                + "as well; if SQLite sorts the rows itself, about half of their cost remains. For values: the part of "
                + "the loading time that their bytes and pages took; if SQLite also scans or sorts other rows, the cost of the "
                + "bytes in all of these rows.",
            guards: [
                "Lists that scroll use more than their first rows over time, and belong to R02.",
                "Results that the program still holds at the end may be used later, so at least 90 % must have been released.",
                "An object may have been read in ways that are not recorded, so unread values "
                    + "count only if at least 90 % of the rows were read.",
                "The finding is a note if it saves little time and less than a fifth of all rows.",
            ])
    }
}
