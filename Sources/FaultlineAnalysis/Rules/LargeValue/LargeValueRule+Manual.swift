public import FaultlineTrace

extension LargeValueRule {
    public var needs: Set<TraceGap.Kind> { [.sizes] }

    public var thresholds: [Threshold] {
        [LargeValue.minimumSize, Self.fileSize, LargeValue.minimumLargeShare, LargeValue.readShare, Self.minimumRows]
    }

    public var manual: RuleManual {
        RuleManual(
            trigger:
                "An attribute with at least 16 KiB in more than \(LargeValue.minimumLargeShare.text) of its values, in "
                + "at least \(LargeValue.minimumRows) rows of fetches that mostly do not read it.",
            evidence: "Rows that were loaded with it, rows in which it was read, the share of large values, and bytes.",
            fix:
                "Move the value into an entity of its own or, from an average size of "
                + "\(LargeValueRule.fileSize.text), into files (external storage). Or make the attribute the last "
                + "column, and list the properties to load in the fetches.",
            saving:
                "The part of the loading time that the unread bytes and their pages took, by the costs that `record` "
                + "measured on the machine. Without these, or if SQLite scans or sorts, the bytes times the cost per "
                + "byte, fitted to rows of different lengths or assumed.",
            guards: [
                "R09 ignores attributes whose values are already stored in files.",
                "It ignores values that every fetch reads.",
                "The finding is a note if fewer than \(Phrase.count(LargeValueRule.minimumRows.count)) rows were loaded.",
                "If the cost per byte was not measured, the confidence is low.",
            ])
    }
}
