public import FaultlineTrace

extension AggregateRule {
    public var needs: Set<TraceGap.Kind> { [.use] }

    public var thresholds: [Threshold] {
        [ResultDemand.minimumRows, ResultDemand.minimumBytes]
    }

    public var manual: RuleManual {
        RuleManual(
            trigger:
                "Results of one line, at least \(ResultDemand.minimumRows.text) rows or \(ResultDemand.minimumBytes.text) each, if in "
                + "\(ResultDemand.share.text) of the cases the program only counted them, only tested them for emptiness, only read one "
                + "numeric attribute of each row in order, or used only their count and first rows.",
            evidence:
                "Results, rows, the rows that were used, how many results were counted, bytes and time.",
            fix: "Use a count request, a limit of 1 to check whether any row exists, an aggregate expression instead "
                + "of a sum over objects, or a count in addition to a fetch with a limit.",
            saving:
                "The fetches' total time, minus one round trip each (two for a sum), the time SQLite needs to prepare the "
                + "statement, and the scan or the steps over the rows that remain.",
            guards: [
                "A sum over a fetch with a limit is not reported: an aggregate has no first rows.",
                "Objects that are used later, up to the result's end, count as used.",
                "A trace shows which attributes were read, but not what was computed from them, so a sum is never more than a "
                    + "warning.",
                "Where other fetches in the same scopes compare a relationship with objects of the entity, no sum is reported: "
                    + "the program needs the objects.",
                "If the rows are sorted, their order may matter to the program, and the finding is a note.",
            ])
    }
}
