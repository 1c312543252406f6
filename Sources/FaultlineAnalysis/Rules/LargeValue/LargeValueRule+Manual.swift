public import FaultlineTrace

extension LargeValueRule {
    public var needs: Set<TraceGap.Kind> { [.sizes] }

    public var thresholds: [Threshold] {
        [LargeValue.minimumSize, Self.fileSize, LargeValue.minimumLargeShare, LargeValue.readShare, Self.minimumRows]
    }

    public var manual: RuleManual {
        RuleManual(
            trigger:
                "An attribute of which \(LargeValue.minimumLargeShare.text) of the values or more have 16 KiB, in \(LargeValue.fewestRows) rows or more "
                + "of fetches that mostly do not read it.",
            evidence: "Rows that were loaded with it and in which it was read, the share of large values, and "
                + "bytes.",
            fix:
                "An entity of its own; from \(LargeValueRule.fileSize.text) on average a file of its own (external storage); or the "
                + "attribute behind all others, and fetches that name the properties that they load.",
            saving:
                "The part of the loading time that the unread bytes and their pages took, by the costs that `record` "
                + "measured on the machine; without these, and where SQLite scans or sorts, the bytes times the cost of one: "
                + "fitted to rows of different lengths, or assumed.",
            guards: [
                "Attributes whose values lie in files already are left alone.",
                "What every fetch reads is no waste.",
                "Fewer than \(Phrase.count(LargeValueRule.minimumRows.count)) rows are a note.",
                "If the cost of a byte was not measured, the confidence is low.",
            ])
    }
}
