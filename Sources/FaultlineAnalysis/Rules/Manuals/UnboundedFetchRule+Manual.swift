extension UnboundedFetchRule {
    public var manual: RuleManual {
        RuleManual(
            trigger: "A fetch without limit and batch size with \(Phrase.count(UnboundedFetchRule.minimumRows)) "
                + "rows or 4 MiB at once.",
            evidence: "Results, rows, the most of one result, and bytes.",
            fix: "A batch size, so that rows are loaded as they are reached; or a limit, and a predicate on "
                + "the sort key for the next page.",
            saving: "Memory that need not be held at a time. Time is not saved at this size: the finding projects "
                + "what ten times the rows would take.",
            guards: [
                "Scopes of kind bulk say that everything is worked through.",
                "Tables of fewer rows that are looked up in are left alone.",
                "Where fewer rows are needed, R02, R03, R05 and R17 say what to do.",
                "It is never an error.",
            ])
    }
}
