extension PlanRule {
    public var manual: RuleManual {
        RuleManual(
            trigger:
                "One text of a statement that ran with more than one plan, in one trace or in several that were added up; "
                + "it is a warning if one plan takes \(Phrase.decimal(PlanRule.minimumRatio, places: 0)) times the steps of "
                + "another or more.",
            evidence: "The plans, how often each ran, its steps of SQLite's virtual machine and its time.",
            fix: "ANALYZE, so that SQLite knows the tables; or the index that the better plan uses.",
            saving: "Half of what the other plans took beyond the best one: other data can be a reason as well.",
            guards: [
                "Statements whose plan the trace does not tell are left out.",
                "\"faultline diff\" lists the plans that changed between two traces.",
            ])
    }
}
