public import FaultlineTrace

extension TextSearchRule {
    public var needs: Set<TraceGap.Kind> { [.statements, .operations] }

    public var thresholds: [Threshold] {
        [Self.minimumSteps, Self.minimumExecutions, Self.fewCandidates]
    }

    public var manual: RuleManual {
        RuleManual(
            trigger: "A comparison of texts that no index serves (CONTAINS, ENDSWITH, MATCHES, LIKE with a "
                + "wildcard at the beginning, and whatever disregards case or diacritics), which went through "
                + "\(Phrase.decimal(TextSearchRule.minimumSteps.value, places: 0)) rows or ran "
                + "\(TextSearchRule.minimumExecutions.count) times.",
            evidence: "Fetches, rows that they went through by SQLite's own counters, rows that they returned, and "
                + "time.",
            fix: "The words of the text in rows of their own, found by their beginning; a copy without case "
                + "and diacritics, with an index; a copy from the end to the beginning; or a plain prefix.",
            saving:
                "What SQLite took for the searches, less the rows that they returned; where a cheaper term keeps texts "
                + "from being compared, some \(Phrase.duration(TextSearchCost.usual)) for each that is.",
            guards: [
                "Where another term leaves \(Phrase.decimal(TextSearchRule.fewCandidates.value, places: 0)) rows or "
                    + "fewer it is a note.",
                "Copies that the store folds already (canonical attributes) are left alone.",
                "On little data it stays a warning, since it grows with the table, and says that the cost is "
                    + "not proven at this size.",
            ])
    }
}
