public import FaultlineTrace

extension RepeatedStatementRule {
    public var needs: Set<TraceGap.Kind> { [.statements, .values] }

    public var thresholds: [Threshold] { [RepeatedStatementDetector.threshold, Self.manyTimes] }

    public var manual: RuleManual {
        RuleManual(
            trigger:
                "At least \(Phrase.count(RepeatedStatementDetector.threshold.count)) runs of one statement that reads, with the "
                + "same values and the same number of rows, from one line on one thread, within one scope or without a pause of "
                + "100 ms, and no write in between. Fewer than \(Self.manyTimes.count) of them are reported as a note.",
            evidence: "The runs, the most with one set of values, their rows and their time in SQLite.",
            fix: "Keep the result, and pass it on.",
            saving:
                "The runs' time in SQLite, less the longest run with each set of values. The time of the driver and of a mapper "
                + "is saved too, but is not in the trace.",
            guards: [
                "Any statement of the process that writes counts as a write, on any thread and to any table.",
                "R29 ignores the statements of fetches, faults and saves. R18 evaluates repeated fetches.",
                "Runs in a loop with several values belong to R27.",
                "A write by another process between the runs is not seen.",
                "A finding is a note if the runs are less than 20 % of all statements that read rows, and their time is less than "
                    + "2 ms and less than 1 % of the time that the work took.",
            ])
    }
}
