public import FaultlineTrace

extension HeldObjectRule {
    public var needs: Set<TraceGap.Kind> { [.use] }

    public var thresholds: [Threshold] {
        [Self.minimumObjects, Self.minimumShare]
    }

    public var manual: RuleManual {
        RuleManual(
            trigger:
                "Objects with \(Phrase.size(Double(TraceEvent.Release.leastBytes))) or more that were filled within a "
                + "scope and kept their values after it had ended: \(Phrase.count(HeldObjectRule.minimumObjects.count)) or more at a "
                + "time, and half of all from that line or more, or half of the kept ones at one time.",
            evidence: "Those objects, how many there were at a time, and their bytes.",
            fix: "A refresh to a fault, or no reference, once the screen or the job is done.",
            saving: "The memory of those that were kept at a time.",
            guards: [
                "Outside of scopes, the end of the work is unknown.",
                "R25 ignores an object that was released or turned back into a fault within its scope, however large it is.",
                "Rows of a result that the program still uses are held by the result: of a batched one those of the last "
                    + "\(TraceEvent.Batch.retained) batches, otherwise all.",
                "An object that is read again in a later scope, without being released in between, looks the same as one that was forgotten.",
            ])
    }
}
