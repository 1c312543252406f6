public import FaultlineTrace

extension TextSearchRule {
    public var needs: Set<TraceGap.Kind> { [.statements, .operations] }
    public var needsOfStatements: Set<TraceGap.Kind> { [.statements, .counters] }

    public var thresholds: [Threshold] {
        [Self.minimumSteps, Self.minimumExecutions, Self.fewCandidates]
    }

    public var manual: RuleManual {
        RuleManual(
            trigger: "A comparison of texts that no index can serve (CONTAINS, ENDSWITH, MATCHES, LIKE with a leading "
                + "wildcard, and any that ignores case or diacritics), if its fetches examined at least "
                + "\(Phrase.decimal(TextSearchRule.minimumSteps.value, places: 0)) rows in all or ran at least "
                + "\(TextSearchRule.minimumExecutions.count) times. In a program without an object store, statements whose condition "
                + "compares a column with a pattern (LIKE, GLOB) and no column with one value, if each run steps over at "
                + "least \(Phrase.decimal(FetchIndexing.minimumRows.value, places: 0)) rows.",
            evidence: "Fetches, the rows that they examined by SQLite's counters, the rows that they returned, and "
                + "time.",
            fix: "Keep the words of the text in rows of their own and search for their beginnings; keep an indexed "
                + "copy without case and diacritics, or a reversed one; or search with a plain prefix. In SQL, search a "
                + "full-text table (FTS5).",
            saving:
                "SQLite's time for the searches, minus the cost of the rows that they returned. If a cheaper term "
                + "keeps texts from being compared, about \(Phrase.duration(TextSearchCost.usual)) for each text that "
                + "is compared.",
            guards: [
                "The finding is a note if another term leaves at most "
                    + "\(Phrase.decimal(TextSearchRule.fewCandidates.value, places: 0)) rows.",
                "R08 ignores copies that the store already folds (canonical attributes).",
                "On little data the finding stays a warning, because its cost grows with the table, and says that the "
                    + "cost is not proven at this size.",
            ])
    }
}
