public import FaultlineTrace

extension BatchSizeRule {
    public var needs: Set<TraceGap.Kind> { [.use] }

    public var thresholds: [Threshold] {
        [
            BatchDemand.minimumExecutions, BatchDemand.minimumRows, UsePattern.minimumWindows, BulkBatches.memoryLimit,
            BulkBatches.threshold, BatchCurve.equality, ScreenBatches.minimumMemory, ScreenBatches.wastedShare,
            ScreenBatches.frame,
        ]
    }

    public var manual: RuleManual {
        RuleManual(
            trigger:
                "R02 evaluates a fetch once the program has read rows of \(BatchDemand.minimumExecutions.count) results, "
                + "\(BatchDemand.minimumRows.count) rows, or \(UsePattern.minimumWindows.count) screens. On screens, it reports a batch "
                + "size below one screen or above two, or no batch size for results of more than three screens. In bulk work, it reports a "
                + "size that costs \(BulkBatches.threshold.text) times as much as the best one, or batches of more than "
                + "\(BulkBatches.memoryLimit.text). It also reports batched results whose rows were all loaded in one pass, most of them "
                + "unread.",
            evidence:
                "The rows that matched, were loaded and were read; the number of rows that 95 % of the screens do not exceed; and, "
                + "for each batch size, the cost of one batch and the total cost of loading the rows that were used.",
            fix:
                "For screens: one and a half screens, rounded up to a multiple of five, at most 100. For bulk work: the smallest size that costs at "
                + "most \(BatchCurve.equality.text) times the least, or no batches if fewer than \(Phrase.count(FetchProfile.manyRows.count)) "
                + "rows are fetched and all are used. For scattered reads, the same criterion: small batches if few rows are read, one trip "
                + "if many are. Or fetch just those rows.",
            saving:
                "For screens: the shorter wait per screen. For bulk work: the cost at the current size minus the cost at the advised "
                + "size, from the fitted cost per trip and per row. What SQLite scans and sorts is not saved, because fetching the IDs "
                + "needs it as well.",
            guards: [
                "Without scopes of kind screen, pauses between touched rows stand in for screens, and the finding "
                    + "says so.",
                "R02 leaves results that the program only counts, adds up or reads the first rows of to R03 and R05, "
                    + "and unused results to R17.",
                "Rows that a results controller reads only to build sections do not count as used. R02 ignores a batched result that "
                    + "other code loads in full.",
                "The finding is a note if the current and the advised size cost about the same and the waits are equally long.",
                "The finding is a note if it saves little time, little memory and less than a third of the rows.",
            ])
    }
}
