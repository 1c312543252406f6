extension UnchangedWriteRule {
    public var manual: RuleManual {
        RuleManual(
            trigger:
                "\(Phrase.count(UnchangedWriteRule.minimumObjects)) objects or more, saved from one line, that were set to "
                + "values which the store had, and at least as many as were updated.",
            evidence: "Saves, objects that need not have been set, rows that were written, and the saves' time.",
            fix: "A comparison before the assignment.",
            saving: "Where nothing was to be written, the time of the saves; otherwise none is claimed.",
            guards: [
                "Saves that wrote something else are a note: the objects that did not change were compared and left out.",
                "Traces of other recorders do not tell it.",
            ])
    }
}
