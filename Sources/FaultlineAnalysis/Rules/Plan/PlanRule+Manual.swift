public import FaultlineTrace

extension PlanRule {
    public var needs: Set<TraceGap.Kind> { [.plans] }

    public var thresholds: [Threshold] {
        [Self.minimumRatio]
    }

    public var manual: RuleManual {
        RuleManual(
            trigger:
                "One text of a statement that ran with more than one plan, in one trace or in several that were added up; "
                + "it is a warning if one plan takes \(Phrase.decimal(PlanRule.minimumRatio.value, places: 0)) times the steps of "
                + "another or more. And a table, or values of an index, of which there are "
                + "\(Phrase.decimal(PlanRule.minimumRatio.value, places: 0)) times as many rows as SQLite expects by what ANALYZE "
                + "wrote, or as few, where one of the two is \(Phrase.decimal(OldStatistics.minimumRows, places: 0)) rows; of values in "
                + "\(OldStatistics.minimumSearches) runs or more. And a full scan that returns few rows, although one of the "
                + "table's indexes would find them.",
            evidence:
                "The plans, how often each ran, its steps of SQLite's virtual machine and its time; rows that were "
                + "expected, and rows that were met.",
            fix: "ANALYZE, so that SQLite knows the tables; or the index that the better plan uses.",
            saving: "Half of what the other plans took beyond the best one: other data can be a reason as well. Of old "
                + "statistics half of what fetches took to go through the table for a few rows that one of its indexes would find.",
            guards: [
                "Statements whose plan the trace does not tell are left out, and for what was expected joins, counts and what "
                    + "is grouped.",
                "Where ANALYZE has never run SQLite expects nothing in particular, and nothing is said.",
                "Where no fetch would gain from another plan as far as one can see, old statistics are a note.",
                "\"faultline diff\" lists the plans that changed between two traces.",
            ])
    }
}
