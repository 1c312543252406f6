public import FaultlineTrace

extension UnchangedWriteRule {
    public var needs: Set<TraceGap.Kind> { [.changes] }

    public var thresholds: [Threshold] {
        [Self.minimumObjects]
    }

    public var manual: RuleManual {
        RuleManual(
            trigger:
                "At least \(Phrase.count(UnchangedWriteRule.minimumObjects.count)) objects, saved from one line, that "
                + "were set to values that the store already had, and at least as many as were updated.",
            evidence: "Saves, objects that need not have been set, rows that were written, and the time of the saves.",
            fix: "Compare the values before the assignment.",
            saving: "If nothing had to be written, the time of the saves; otherwise none.",
            guards: [
                "Saves that wrote something else are a note: the store compared the unchanged objects and left them "
                    + "out.",
                "The finding is a note if the saves took less than 1 % of the time, less than 2 ms (1 ms on the main thread), and the "
                    + "objects are less than a fifth of all that are saved.",
                "R23 ignores scopes of kind setup, which are preparation.",
                "Traces of other recorders do not show unchanged objects.",
            ])
    }
}
