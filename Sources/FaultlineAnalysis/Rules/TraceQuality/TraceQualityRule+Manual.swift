extension TraceQualityRule {
    public var thresholds: [Threshold] {
        [Self.lossLimit]
    }

    public var manual: RuleManual {
        RuleManual(
            trigger: "Lost events and names, lines that could not be written, processes without an end, recording "
                + "that took at least 3 % of the time, at least 1 % truncated stacks, events of one thread that "
                + "overlap because the clock was changed, and scopes without a beginning or an end.",
            evidence: "Recorded events, lost events, and the time of recording.",
            fix:
                "Use larger buffers, record less or for a shorter time, and follow the warning at the top of the report.",
            saving:
                "None: the rule describes how far the other findings can be trusted.",
            guards: [
                "R24 is always evaluated, and appears at the top of the report.",
                "A finding becomes a note if events were lost in at least half of its scopes. All findings become "
                    + "notes if at least \(Self.lossLimit.text) of the events were lost.",
            ])
    }
}
