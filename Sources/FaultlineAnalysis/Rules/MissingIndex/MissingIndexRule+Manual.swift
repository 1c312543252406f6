public import FaultlineTrace

extension MissingIndexRule {
    public var needs: Set<TraceGap.Kind> { [.plans] }

    public var thresholds: [Threshold] {
        [
            FetchIndexing.minimumRows, FetchIndexing.minimumSteps, FetchIndexing.stepsPerRow,
            FetchIndexing.largestShare, FetchIndexing.largestIndexShare, FetchIndexing.maximumColumns,
            Self.needlessWrites, LongFetch.minimumTime,
        ]
    }

    public var manual: RuleManual {
        RuleManual(
            trigger:
                "Fetches that compare properties with values and, by SQLite's plan, scan at least "
                + "\(Phrase.decimal(FetchIndexing.minimumRows.value, places: 0)) rows each, of their own table or of one reached through "
                + "a relationship; or that scan at least \(FetchIndexing.stepsPerRow.text) rows for each row found and "
                + "\(Phrase.decimal(FetchIndexing.minimumSteps.value, places: 0)) in all. Also tables of at least that size for which "
                + "SQLite builds an automatic index (AUTOMATIC in its plan) for every fetch. If SQLite's steps were not counted, fetches of "
                + "few rows that take SQLite at least \(LongFetch.minimumTime.text) each, and whose plan scans the table or seeks by other columns. "
                + "In a program without an object store, statements that compare columns with one value each and scan as much, and those for which SQLite builds an "
                + "automatic index.",
            evidence:
                "Fetches, rows that they found, steps of full scans, their time, SQLite's plan, and rows of the entity that were "
                + "written.",
            fix:
                "Declare an index with the columns that are compared for equality first, then one range or the sort "
                + "order; at most \(FetchIndexing.maximumColumns.count) columns. If more are compared, R06 leaves out "
                + "the least selective first: those for which other fetches show that one value matches more than "
                + "\(Phrase.percent(FetchIndexing.largestIndexShare.value)) of the table. Fetches that one index "
                + "serves are one finding. Drop indexes whose columns are a prefix of another index.",
            saving:
                "The time SQLite needs to step over rows that the index skips, minus the time to seek the others "
                + "(waiting, preparing, prefetching and making objects do not count). For an automatic index, about "
                + "\(Phrase.duration(AutomaticIndex.row)) for each row that SQLite indexed itself. In both cases, "
                + "minus about \(Phrase.duration(MissingIndexRule.upkeep)) for each row of the entity that was "
                + "written.",
            guards: [
                "A finding about a table of fewer than \(Phrase.decimal(FetchIndexing.minimumRows.value, places: 0)) "
                    + "rows is a note.",
                "R06 ignores a fetch that loads more than \(Phrase.percent(FetchIndexing.largestShare.value)) of the table, or "
                    + "counts more than \(Phrase.percent(FetchIndexing.largestIndexShare.value)) of it, and "
                    + "one for which an index would leave that share of the table to a text search or a sum.",
                "It ignores terms that are alternatives or negated, and texts that are compared without regard to "
                    + "case or diacritics, which belong to R08.",
                "It ignores statements with alternatives, negated conditions, a collation, groups or an offset, and those that "
                    + "compare expressions. Their indexes have the compared columns in the order of the statement.",
                "If the table has such an index and SQLite does not use it, R22 reports why.",
                "R06 never advises dropping an index that the store creates itself or that enforces uniqueness, or one that "
                    + "SQLite prefers to the longer index in a plan of the trace. A needless index is a note unless at least "
                    + "\(Phrase.count(MissingIndexRule.needlessWrites.count)) rows were written.",
                "An index that costs more to maintain than it saves is a note.",
                "For tables of at least \(Phrase.decimal(FetchIndexing.minimumRows.value, places: 0)) rows, a finding that saves too "
                    + "little time stays a warning, and says that the cost is not proven at this size, because the cost grows with the "
                    + "table.",
            ])
    }
}
