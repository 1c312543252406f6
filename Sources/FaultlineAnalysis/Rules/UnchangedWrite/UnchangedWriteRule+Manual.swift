public import FaultlineTrace

extension UnchangedWriteRule {
    public var needs: Set<TraceGap.Kind> { [.changes] }

    public var thresholds: [Threshold] {
        [Self.minimumObjects]
    }

    public var manual: RuleManual {
        RuleManual(
            trigger:
                "\(Phrase.count(UnchangedWriteRule.minimumObjects.count)) objects or more, saved from one line, that were set to "
                + "values which the store had, and at least as many as were updated.",
            evidence: "Saves, objects that need not have been set, rows that were written, and the saves' time.",
            fix: "A comparison before the assignment.",
            saving: "Where nothing was to be written, the time of the saves; otherwise none is claimed.",
            guards: [
                "Saves that wrote something else are a note: the objects that did not change were compared and left out.",
                "It is a note if the saves took less than 1 % of the time, less than 2 ms (1 ms on the main thread), and the "
                    + "objects are less than a fifth of all that are saved.",
                "What happens in scopes of kind setup is preparation, and is left out.",
                "Traces of other recorders do not tell it.",
            ])
    }
}
