public import FaultlineTrace

extension MainThreadRule {
    public var needs: Set<TraceGap.Kind> { [.threads] }

    public var thresholds: [Threshold] {
        [BlockDetector.threshold, Self.longBlock]
    }

    public var manual: RuleManual {
        RuleManual(
            trigger:
                "At least \(BlockDetector.threshold.text) in the store on the main thread, without a pause of "
                + "\(BusyInterval.pause / 1_000_000) ms, in scopes of kind screen; at least \(Self.longBlock.text) is "
                + "an error. Time in which the thread waited for a CPU does not count.",
            evidence: "Busy intervals, their total and longest time, and the line that took most of it.",
            fix:
                "Fetch on a background context and hand over object IDs; or set a batch size, a limit or a prefetch, "
                + "so the wait is shorter.",
            saving:
                "The part of the longest busy interval that can be moved. The work takes as long as before, so the "
                + "saving counts as a pause.",
            guards: [
                "The work of a main context counts, whatever thread does it: where `main` is asynchronous, the main queue has "
                    + "no thread of its own.",
                "Programs without screens may work in the store on their main thread. R12 recognizes screens by "
                    + "scopes of kind screen, or because the trace is an export of Instruments, which records apps.",
                "If another rule has advice for the line, R12 reports nothing, because that advice goes further.",
                "Waits for a lock or a queue belong to R13, and migrations to R31.",
                "The finding is a note if events were lost in at least half of the busy intervals.",
            ])
    }
}
