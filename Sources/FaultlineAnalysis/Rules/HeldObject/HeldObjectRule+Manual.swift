public import FaultlineTrace

extension HeldObjectRule {
    public var needs: Set<TraceGap.Kind> { [.use] }

    public var thresholds: [Threshold] {
        [Self.minimumObjects, Self.minimumShare]
    }

    public var manual: RuleManual {
        RuleManual(
            trigger:
                "Objects with at least \(Phrase.size(Double(TraceEvent.Release.minimumBytes))) whose values were loaded "
                + "within a scope and stayed in memory after it ended: at least "
                + "\(Phrase.count(HeldObjectRule.minimumObjects.count)) at once. Also, either at least half of all "
                + "objects from that line stayed, or at least half of those that stayed were held at the same time.",
            evidence: "These objects, the largest number held at once, and their bytes.",
            fix: "Refresh the objects to faults, or release them, once the screen or the job is done.",
            saving: "The memory of the objects kept at once.",
            guards: [
                "Outside of scopes, the end of the work is unknown.",
                "R25 ignores an object that was released or turned back into a fault within its scope, however large it is.",
                "Rows of a result that the program still uses are held by the result: for a batched result, the rows "
                    + "of the last \(TraceEvent.Batch.retained) batches; otherwise all rows.",
                "An object that is read again in a later scope, without being released in between, looks the same as one that was forgotten.",
            ])
    }
}
