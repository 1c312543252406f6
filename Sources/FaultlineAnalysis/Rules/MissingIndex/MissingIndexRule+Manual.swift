public import FaultlineTrace

extension MissingIndexRule {
    public var needs: Set<TraceGap.Kind> { [.plans] }

    public var thresholds: [Threshold] {
        [
            Self.minimumRows, Self.minimumSteps, Self.stepsPerRow, Self.largestShare, Self.largestIndexShare,
            Self.maximumColumns,
            Self.needlessWrites, Self.longFetch,
        ]
    }

    public var manual: RuleManual {
        RuleManual(
            trigger: "Fetches that compare properties with values and go through "
                + "\(Phrase.decimal(MissingIndexRule.minimumRows.value, places: 0)) rows or more each by SQLite's plan, of their own table or of one that a relationship leads to, or through "
                + "\(MissingIndexRule.stepsPerRow.text) or more for each that they find and \(Phrase.decimal(MissingIndexRule.minimumSteps.value, places: 0)) in "
                + "all. And tables of which SQLite "
                + "makes an index itself for every fetch (AUTOMATIC in its plan), of as many rows. Where SQLite's steps were "
                + "not counted, fetches of few rows that take SQLite \(Self.longFetch.text) or more each, and whose plan scans the table or seeks by "
                + "other columns.",
            evidence: "Fetches, rows that they found, steps of full scans, their time, SQLite's plan, and rows of the "
                + "entity that were written.",
            fix: "An index with what is compared for equality first, then one range or what the rows are sorted by; "
                + "\(MissingIndexRule.maximumColumns.count) properties at most; where more are compared, those of which a "
                + "value leaves more than \(Phrase.percent(MissingIndexRule.largestIndexShare.value)) of the table, as other fetches show, are "
                + "left out first. Fetches that one index serves are one finding. Indexes whose columns are the first of "
                + "another one's are to be dropped.",
            saving:
                "What SQLite took to step over rows that the index does not lead to, minus what it takes to seek those that "
                + "it does (waiting, preparing, prefetching and making objects do not count), or about "
                + "\(Phrase.duration(AutomaticIndex.row)) for each row that SQLite indexed itself, minus about "
                + "\(Phrase.duration(MissingIndexRule.upkeep)) for each row of the entity that was written.",
            guards: [
                "A table of fewer than \(Phrase.decimal(MissingIndexRule.minimumRows.value, places: 0)) rows is a note.",
                "R06 ignores a fetch that loads more than \(Phrase.percent(MissingIndexRule.largestShare.value)) of the table, or "
                    + "counts more than \(Phrase.percent(MissingIndexRule.largestIndexShare.value)) of it, and "
                    + "one whose terms leave as much to a text search or to a sum, as SQLite's counters show.",
                "It ignores terms that are alternatives or negated, and texts that are compared "
                    + "without regard to case or diacritics, which R08 knows.",
                "Where the table has such an index and SQLite does not take it, R22 says why.",
                "Indexes that the store makes itself, and those that keep values unique, are none to drop; nor those of "
                    + "tables of which the trace has other plans without the longer index. Such an index is a note unless "
                    + "\(Phrase.count(MissingIndexRule.needlessWrites.count)) rows or more were written.",
                "An index whose upkeep costs more than it saves is a note.",
                "On little data it stays a warning, and says that the cost is not proven at this size.",
            ])
    }
}
