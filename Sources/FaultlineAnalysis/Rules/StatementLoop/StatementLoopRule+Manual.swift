public import FaultlineTrace

extension StatementLoopRule {
    public var needs: Set<TraceGap.Kind> { [.statements] }

    public var thresholds: [Threshold] { [StatementLoopDetector.threshold] }

    public var manual: RuleManual {
        RuleManual(
            trigger:
                "At least \(Phrase.count(StatementLoopDetector.threshold.count)) runs of one statement that reads, from one line "
                + "on one thread, within one scope or without a pause of \(Repetition.statementPause / 1_000_000) ms.",
            evidence:
                "The runs, their rows and their time in SQLite, the time between them, and the statement whose rows the loop "
                + "goes through: one that was open meanwhile, or that returned about as many rows just before.",
            fix:
                "Read all rows with one statement: with a join, with IN, or with the eager loading of the mapper "
                + "(select_related and prefetch_related in Django, selectinload in SQLAlchemy, including in GRDB). If SQLAlchemy reads objects "
                + "again that a commit expired, turn expire_on_commit off.",
            saving:
                "All runs but one per loop. R27 predicts no time: most of it passes in the mapper and the driver, whose "
                + "work for a joined statement is not known.",
            guards: [
                "R27 ignores the statements of fetches, faults and saves, which R01 and R04 evaluate.",
                "R27 ignores runs that all have the same values, which R29 evaluates.",
                "R27 ignores statements that read a table in parts: pages, lists of keys, and ranges that return several rows.",
                "R27 ignores statements that return at least \(Phrase.count(Self.manyRows)) rows a run.",
                "A finding is a note if the runs are less than 20 % of all statements that read rows, and half of their time is "
                    + "less than 2 ms and less than 1 % of the time that the work took.",
                "A finding is a note if the program spends at least 5 ms elsewhere between two runs.",
            ])
    }
}
