public import FaultlineTrace

extension BatchSizeRule {
    public var needs: Set<TraceGap.Kind> { [.use] }

    public var thresholds: [Threshold] {
        [
            Self.minimumExecutions, Self.minimumRows, Self.minimumWindows, BulkBatches.memoryLimit,
            BulkBatches.threshold, BatchCurve.equality, ScreenBatches.minimumMemory, ScreenBatches.wastedShare,
            ScreenBatches.frame,
        ]
    }

    public var manual: RuleManual {
        RuleManual(
            trigger: "A result of which rows were taken out, \(BatchSizeRule.minimumExecutions.count) times, "
                + "\(BatchSizeRule.minimumRows.count) rows or \(BatchSizeRule.minimumWindows.count) screens of it. Of "
                + "screens: batches smaller than a screen, larger than two, or none for more than three "
                + "screens. Of bulk work: a size that costs \(BulkBatches.threshold.text) times as much as the best, or "
                + "batches of more than \(BulkBatches.memoryLimit.text). And batched results of which all rows were taken out in one go, most of them "
                + "unread.",
            evidence: "Rows that matched, were loaded and were touched, the rows of a screen that 95 % of the "
                + "screens do not exceed, and what every size costs: one batch, and all that is loaded for the rows that "
                + "were used.",
            fix: "For screens half a screen more than a screen shows, rounded up to five, and a hundred at "
                + "most. For bulk work the smallest size that costs no more than \(BatchCurve.equality.text) times the least, or no batches "
                + "where all of fewer than \(UnboundedFetchRule.minimumRows.count) rows are used. Where rows are taken out here "
                + "and there the same, which are small batches for few of them and one trip for many; or a fetch of "
                + "just these rows.",
            saving: "By how much the wait for a screen gets shorter; for bulk work the cost of the size in force "
                + "less that of the advised one, by the cost of a trip and of a row. What SQLite scans and sorts is not saved: it does so "
                + "for the rows' identities as well.",
            guards: [
                "Without scopes of kind screen pauses between touched rows stand for screens, and the finding "
                    + "says so.",
                "Results that are there to be counted, added up or for their first rows are left to R03 and "
                    + "R05, unused ones to R17.",
                "Rows that a results controller looks at for its sections count as used by nobody; a batched result that "
                    + "something else loads as a whole is left alone.",
                "It is a note if both sizes cost about the same and the waits are as long.",
                "It is a note if it saves little time, little memory and less than a third of the rows.",
            ])
    }
}
