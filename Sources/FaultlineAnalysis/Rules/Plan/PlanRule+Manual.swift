public import FaultlineTrace

extension PlanRule {
    public var needs: Set<TraceGap.Kind> { [.operations, .plans] }

    public var thresholds: [Threshold] {
        [Self.minimumRatio]
    }

    public var manual: RuleManual {
        RuleManual(
            trigger:
                "One statement text that ran with more than one plan, in one trace or in several that were merged; it "
                + "is a warning if one plan takes at least \(Phrase.decimal(PlanRule.minimumRatio.value, places: 0)) "
                + "times the steps of another. Also a table, or values of an index, whose number of rows differs by a "
                + "factor of at least \(Phrase.decimal(PlanRule.minimumRatio.value, places: 0)) from what SQLite "
                + "expects from ANALYZE's statistics, if one of the two is at least "
                + "\(Phrase.decimal(OldStatistics.minimumRows, places: 0)) rows; for values, in at least "
                + "\(OldStatistics.minimumSearches) runs. Also a full scan that returns few rows, although one of the "
                + "table's indexes serves the search.",
            evidence:
                "The plans, how often each ran, its steps of SQLite's virtual machine and its time; the rows that "
                + "SQLite expected, and the rows that it visited.",
            fix: "Run ANALYZE, so that SQLite knows the tables; or declare the index that the better plan uses.",
            saving: "Half of the time that the other plans took beyond the best one, because different data can be a "
                + "reason as well. For old statistics, half of the time that fetches spent scanning the table for a "
                + "few rows that one of its indexes serves.",
            guards: [
                "R22 ignores statements whose plan is not in the trace. It compares expected rows only for statements "
                    + "without joins, counts or groups.",
                "If ANALYZE has never run, SQLite has no expectations, and R22 reports no difference from them.",
                "Old statistics are a note if no fetch is known to gain from another plan.",
                "\"faultline diff\" lists the plans that changed between two traces.",
            ])
    }
}
