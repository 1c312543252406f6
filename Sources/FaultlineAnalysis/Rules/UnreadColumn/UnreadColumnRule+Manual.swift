public import FaultlineTrace

extension UnreadColumnRule {
    public var needs: Set<TraceGap.Kind> { [.statements] }

    public var thresholds: [Threshold] { [Self.minimumRows] }

    public var manual: RuleManual {
        RuleManual(
            trigger:
                "Statements of a program without an object store, recorded with --columns, that returned at least "
                + "\(Phrase.decimal(Self.minimumRows.value, places: 0)) rows from one line, if the program read none of their "
                + "columns, or never read some of them.",
            evidence:
                "The runs, their rows and their time in SQLite, the columns that were read, and those that were not.",
            fix: "Select the columns that are read. If none is, count the rows in SQL, or ask whether one exists.",
            saving: "No time is predicted, because the trace does not show what each column costs. verify measures it.",
            guards: [
                "A driver that copies whole rows, such as Python's, reads all columns: R30 then finds nothing.",
                "R30 ignores statements with more than 63 columns, aggregates, DISTINCT, UNION and WITH, and the statements of "
                    + "fetches, which R03 and R05 evaluate.",
                "A finding is a note if the statements took less than 1 % of the time that the work took and less than 2 ms.",
            ])
    }
}
