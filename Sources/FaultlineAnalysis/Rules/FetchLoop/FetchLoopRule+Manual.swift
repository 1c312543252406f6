extension FetchLoopRule {
    public var thresholds: [Threshold] {
        [LoopDetector.threshold, Self.waitFactor, Self.minimumPending]
    }

    public var manual: RuleManual {
        RuleManual(
            trigger:
                "At least \(LoopDetector.threshold.count) fetches, counts or dictionary requests of one shape from one "
                + "line, on one thread and in one scope, with as many different values of one property, which is compared "
                + "with == or IN; as many objects that a line looks up by their IDs; or as many fetches that each compare at "
                + "least \(Self.minimumPending.count) unsaved objects in memory and take half of their time for it.",
            evidence: "Fetches, different values, rows, time, the time between the fetches, and where the function "
                + "was called from; for look-ups the trips of objects that no fetch had led to; for unsaved objects how many "
                + "were compared, and the time that took.",
            fix:
                "Rows: collect the values, fetch once with IN, and group the rows. Counts and sums: fetch dictionaries that "
                + "are grouped by the property. The newest row of each value: keep it in a relationship and prefetch it. "
                + "Objects by ID: fetch them with self IN. To find or create, fetch before the loop.",
            saving:
                "The fetches' typical time, less one trip for every thousand values, the rows, the list's values and "
                + "telling the rows apart. Grouped: less the steps of SQLite's virtual machine for the same rows, and a "
                + "dictionary for each value. Unsaved objects: the measured time of comparing them.",
            guards: [
                "Fetches with a limit above one or an offset are pages, and are left alone.",
                "Fetches of a hundred rows or more each have little to gain, unless they are counts.",
                "Of fetches that are limited to one row without an order it says that IN brings all rows of a value.",
                "Ten times a fetch's time, and at least a millisecond, spent elsewhere between the fetches means that the "
                    + "values come one by one: a note.",
                "Without scopes a pause of 5 ms, and four times a fetch, ends the loop.",
                "Objects that had been in memory before are R11's.",
                "Trips alone make no error: for that the saving must be significant.",
            ])
    }
}
