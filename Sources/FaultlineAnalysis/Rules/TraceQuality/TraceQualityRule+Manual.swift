extension TraceQualityRule {
    public var thresholds: [Threshold] {
        [Analysis.lossLimit]
    }

    public var manual: RuleManual {
        RuleManual(
            trigger: "Lost events and names, lines that could not be written, processes without an end, recording "
                + "that took 3 % of the time, 1 % of truncated stacks, events of a thread that overlap since the clock was "
                + "set, scopes without a beginning or an end.",
            evidence: "What was recorded, what was lost, and what recording cost.",
            fix:
                "Use larger buffers, record less or for a shorter time, and follow the warning at the top of the report.",
            saving:
                "None: the rule describes how far the other findings can be trusted.",
            guards: [
                "R24 is always evaluated, and appears at the top of the report.",
                "Findings become notes where events were lost in half of their scopes, and all of them where one event in a "
                    + "hundred was lost.",
            ])
    }
}
