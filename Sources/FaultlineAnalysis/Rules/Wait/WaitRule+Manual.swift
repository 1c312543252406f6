public import FaultlineTrace

extension WaitRule {
    public var needs: Set<TraceGap.Kind> { [.waits] }

    public var thresholds: [Threshold] {
        [Self.longWait, Self.share]
    }

    public var manual: RuleManual {
        RuleManual(
            trigger:
                "Waits of one line for another: one of \(WaitRule.longWait.text) or more, \(WaitRule.share.text) of a scope, or SQLite's lock "
                + "asked for in vain.",
            evidence: "Waits, their time in all, in the middle and at the longest, what their holder did meanwhile "
                + "and where, and how often SQLite's lock was asked for anew.",
            fix: "A context of its own for long work; saves in parts; shorter transactions that begin with "
                + "BEGIN IMMEDIATE, and the write-ahead log.",
            saving: "What the waits took, at most: how much shorter the holder can be made is not known, so that "
                + "half of it is the lower end of the range.",
            guards: [
                "A context's queue that does other things than the store's is a queue of work: only what its "
                    + "holder spent in the store counts, and less than a tenth of the wait is nothing.",
                "Waits of tasks keep no thread, and count as pauses alone.",
                "It is a note below 1 % of the scopes' time and below 2 ms.",
            ])
    }
}
