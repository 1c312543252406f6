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
                "An inheritance tree with \(SparseTableRule.minimumEntities.count) entities below its top or more and "
                + "\(SparseTableRule.minimumColumns.count) columns or more that not all of them have, of which "
                + "\(Phrase.percent(SparseTableRule.minimumShare.value)) are empty. Or fetches of a tree's top that brought "
                + "\(OneKind.minimumRows.count) rows or more, all of which were looked at and "
                + "\(Phrase.percent(OneKind.usedShare.value)) at most read, these of one entity.",
            evidence:
                "Entities, columns, the share of empty values, and the time of fetches that went through the table.",
            fix:
                "Tables of their own for what shares little, which means no common parent; a related entity for what is shared. "
                + "Where one entity is used, a fetch of that.",
            saving: "Half of the empty share of those fetches' time; or what the rows take that nobody read.",
            guards: [
                "The trace tells no numbers of rows: as many of each entity are assumed. \"faultline inspect\" counts them.",
                "It is a note unless going through the table takes "
                    + "\(Phrase.percent(SparseTableRule.minimumTimeShare.value)) of the store's time or more, and never more than a "
                    + "warning.",
                "Results that are limited, or still in use at the end, are left alone.",
            ])
    }
}
