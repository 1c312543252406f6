extension FetchLoopRule {
    public var thresholds: [Threshold] {
        [ProcessReduction.loopThreshold, Self.waitFactor]
    }

    public var manual: RuleManual {
        RuleManual(
            trigger:
                "\(ProcessReduction.loopThreshold.count) fetches or more of one shape from one line, on one thread "
                + "and in one scope, with as many different values of one property, which is compared with == "
                + "or IN.",
            evidence: "Fetches, different values, rows, time, the time between the fetches, and where the function "
                + "was called from.",
            fix: "Collect the values, fetch once with IN, and group what comes. To find or create, do so "
                + "before the loop.",
            saving: "What such fetches take, less one trip for every thousand values, the rows, the list's values and "
                + "telling the rows apart.",
            guards: [
                "Fetches with a limit above one or an offset are pages, and are left alone.",
                "Fetches of a hundred rows or more each have little to gain.",
                "Of fetches that are limited to one row it says that IN brings all rows of a value.",
                "Between the fetches something else that takes ten times as long (and a millisecond) means "
                    + "that the values come one by one: a note.",
                "Without scopes a pause of 5 ms, and four times a fetch, ends the loop.",
            ])
    }
}
