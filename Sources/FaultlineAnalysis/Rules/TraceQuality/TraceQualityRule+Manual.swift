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
            fix: "Larger buffers, a recording of less, or of a shorter time; see what the sentence at the top "
                + "of the report says.",
            saving: "None: it says how far the other findings can be trusted.",
            guards: [
                "It is always looked at, and stands at the top.",
                "Findings become notes where events were lost in half of their scopes, and all of them where one event in a "
                    + "hundred was lost.",
            ])
    }
}
