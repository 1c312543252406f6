public import FaultlineTrace

extension MainThreadRule {
    public var needs: Set<TraceGap.Kind> { [.threads] }

    public var thresholds: [Threshold] {
        [BlockDetector.threshold, Self.longBlock]
    }

    public var manual: RuleManual {
        RuleManual(
            trigger:
                "\(BlockDetector.threshold.text) or more in the store on the main thread, without "
                + "a pause of \(BusyInterval.pause / 1_000_000) ms, in scopes that are screens; "
                + "\(Self.longBlock.text) are an error. Time in which the thread waited for a CPU does not count.",
            evidence: "Busy intervals, their total and longest time, and the line that asked for most of it.",
            fix:
                "A background context, which hands over object IDs; a batch size, a limit or a prefetch, so that there "
                + "is less to wait for.",
            saving:
                "The longest busy interval gets shorter by the part that can be moved; it is no time of the processor's, "
                + "and counts as a pause.",
            guards: [
                "The work of a main context counts, whatever thread does it: where `main` is asynchronous, the main queue has "
                    + "no thread of its own.",
                "Programs without screens have nothing to draw: their main thread may work in the store. A scope of kind "
                    + "screen tells one from the other, and so does an export of Instruments, which are of apps.",
                "Where another rule has advice for the line, it goes further, and this one says nothing.",
                "Waiting for a lock or a queue is R13's.",
                "Events that were lost in half of the busy intervals make it a note.",
            ])
    }
}
