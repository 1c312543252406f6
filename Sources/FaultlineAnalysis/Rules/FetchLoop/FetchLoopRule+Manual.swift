public import FaultlineTrace

extension FetchLoopRule {
    public var needs: Set<TraceGap.Kind> { [.operations] }

    public var thresholds: [Threshold] {
        [LoopDetector.threshold, Self.waitFactor, Self.minimumPending]
    }

    public var manual: RuleManual {
        RuleManual(
            trigger:
                "At least \(LoopDetector.threshold.count) fetches, counts or dictionary requests of one shape from one line, on one "
                + "thread and in one scope, that differ only in the value of one property, which is compared with == or IN; as many "
                + "look-ups of objects by their IDs at one line; or as many fetches that each compare at least "
                + "\(Self.minimumPending.count) unsaved objects in memory and take half of their time for it.",
            evidence:
                "Fetches, different values, rows, time, the time between the fetches, and the callers of the function; for look-ups, "
                + "the trips for objects that no fetch had loaded; for unsaved objects, how many were compared, and the time that took.",
            fix:
                "Rows: collect the values, fetch once with IN, and group the rows. Counts and sums: fetch dictionaries that "
                + "are grouped by the property. The newest row of each value: keep it in a relationship and prefetch it. "
                + "Objects by ID: fetch them with self IN. To find or create, fetch before the loop.",
            saving:
                "The fetches' typical time, minus one trip per 1,000 values and the cost of the rows, of the values in the IN list and "
                + "of grouping the rows. For grouped requests: minus SQLite's virtual machine steps for the same rows and one dictionary per "
                + "value. For unsaved objects: the measured time of comparing them.",
            guards: [
                "R04 ignores fetches with a limit above one or an offset: they are pages.",
                "It ignores fetches of at least 100 rows each, which have little to gain, unless they are counts.",
                "For fetches limited to one unsorted row, the finding warns that IN loads all rows of a value.",
                "If the program spends at least 10 times a fetch's time, and at least 1 ms, elsewhere between the fetches, the "
                    + "values arrive one by one, and the finding is a note.",
                "Without scopes, a pause of 5 ms and four times a fetch's time ends the loop.",
                "Objects that had been in memory before belong to R11.",
                "Many trips alone never make an error: the saving must also be significant.",
            ])
    }
}
