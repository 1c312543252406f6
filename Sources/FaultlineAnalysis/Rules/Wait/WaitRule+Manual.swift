public import FaultlineTrace

extension WaitRule {
    public var needs: Set<TraceGap.Kind> { [.waits] }

    public var thresholds: [Threshold] {
        [Self.longWait, Self.share]
    }

    public var manual: RuleManual {
        RuleManual(
            trigger:
                "Waits of one call site for another: a single wait of at least \(WaitRule.longWait.text), waits of at "
                + "least \(WaitRule.share.text) of a scope's time, or failed attempts to take SQLite's lock.",
            evidence:
                "Waits, their total, median and longest time, what the lock's or queue's owner did meanwhile and where, and how often "
                + "SQLite's lock was tried again.",
            fix:
                "Give long work a context of its own, save in parts, and keep transactions short. If another program "
                + "holds the lock, begin its write transactions with BEGIN IMMEDIATE; Faultline's store needs no change. In other "
                + "programs, a write-ahead log lets readers and a writer work at the same time. If their transactions failed to "
                + "get the lock after they had read, begin them with BEGIN IMMEDIATE.",
            saving:
                "Between half of the total wait time and all of it. How much the owner's work can be shortened is unknown, so the lower "
                + "bound is an assumption.",
            guards: [
                "If a context's queue also runs work outside the store, only the owner's time in the store counts. R13 "
                    + "ignores a wait if the owner spent less than a tenth of it in the store.",
                "A Swift task that awaits a context blocks no thread, so its wait delays its own work alone.",
                "The finding is a note if the waits took less than 1 % of the scopes' time and less than 2 ms.",
            ])
    }
}
