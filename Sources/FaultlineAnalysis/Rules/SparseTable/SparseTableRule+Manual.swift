public import FaultlineTrace

extension SparseTableRule {
    public var needs: Set<TraceGap.Kind> { [.model] }

    public var thresholds: [Threshold] {
        [
            Self.minimumEntities, Self.minimumColumns, Self.minimumShare, Self.minimumTimeShare, OneKind.minimumRows,
            OneKind.usedShare,
        ]
    }

    public var manual: RuleManual {
        RuleManual(
            trigger:
                "An inheritance tree with at least \(SparseTableRule.minimumEntities.count) entities below its root "
                + "and at least \(SparseTableRule.minimumColumns.count) columns that not all of them have, if at "
                + "least \(Phrase.percent(SparseTableRule.minimumShare.value)) of the values in these are empty. Also "
                + "fetches of the root that loaded at least \(OneKind.minimumRows.count) rows and visited nearly all "
                + "of them, but read at most \(Phrase.percent(OneKind.usedShare.value)), all of one entity.",
            evidence:
                "Entities, columns, the share of empty values, and the time of fetches that scanned the table.",
            fix:
                "Put entities that share few properties into separate tables, which means no common parent, and move "
                + "the shared properties to a related entity. If only one entity is used, fetch that entity.",
            saving: "Half of the empty share of these fetches' time; or the cost of the unread rows.",
            guards: [
                "The trace has no row counts, so R15 assumes as many rows of each entity. \"faultline inspect\" "
                    + "counts them.",
                "A mostly empty table is a note if scanning it takes less than "
                    + "\(Phrase.percent(SparseTableRule.minimumTimeShare.value)) of the store's time. R15 never "
                    + "reports more than a warning.",
                "R15 ignores results that are limited, or still in use at the end.",
            ])
    }
}
