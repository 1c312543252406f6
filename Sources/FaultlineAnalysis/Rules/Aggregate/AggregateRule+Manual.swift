public import FaultlineTrace

extension AggregateRule {
    public var needs: Set<TraceGap.Kind> { [.use] }

    public var thresholds: [Threshold] {
        [ResultDemand.minimumRows, ResultDemand.minimumBytes]
    }

    public var manual: RuleManual {
        RuleManual(
            trigger:
                "Results of one line, \(ResultDemand.minimumRows.text) rows or \(ResultDemand.minimumBytes.text) each, that in "
                + "\(ResultDemand.share.text) of the cases were only asked for "
                + "their number, only for whether there is a row, or of whose rows one number was read in order "
                + "and nothing else; or whose first rows alone were used beside the count.",
            evidence: "Results, rows, those that were touched, how many were counted, bytes and time.",
            fix: "A count request, a limit of 1 for whether there is any, an aggregate expression in place of "
                + "a sum over objects, or a count beside a fetch with a limit.",
            saving:
                "The fetches' total time, minus one round trip each (two for a sum), the time SQLite needs to prepare the "
                + "statement, and the scan or the steps over the rows that remain.",
            guards: [
                "A sum over a fetch with a limit is not reported: an aggregate has no first rows.",
                "Objects that are used later, up to the result's end, count as used.",
                "Of rows that were taken out only what was read is seen, so that a sum is never more than a "
                    + "warning.",
                "Where other fetches in the same scopes compare a relationship with objects of the entity, no sum is reported: "
                    + "the program needs the objects.",
                "Where the rows are sorted, their order may matter to what is made of them: a note.",
            ])
    }
}
