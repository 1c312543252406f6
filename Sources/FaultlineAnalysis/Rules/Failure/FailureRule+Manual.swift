public import FaultlineTrace

extension FailureRule {
    public var needs: Set<TraceGap.Kind> { [.errors] }

    public var thresholds: [Threshold] { [Self.minimumFailures] }

    public var manual: RuleManual {
        RuleManual(
            trigger:
                "Fetches, batches, faults and saves that failed, and faults that found no row because another writer had "
                + "deleted it, at least \(FailureRule.minimumFailures.count) at one line.",
            evidence:
                "The failures by line, SQLite's result code, the conflicts that saves met, and the time that was lost.",
            fix:
                "Set a merge policy for conflicts. Merge the deletions of other contexts. Free disk space, or correct the "
                + "permissions of the file. Otherwise print the error, which names the object and the property.",
            saving: "No saving is predicted: a failure is a bug, whatever it costs.",
            guards: [
                "R26 ignores failures in scopes of the kind \"setup\".",
                "R13 reports operations that gave up waiting for a lock (SQLITE_BUSY, SQLITE_LOCKED).",
                "Conflicts that a merge policy resolved are not failures, nor are objects that the program fills by a call that "
                    + "throws, such as \"existingObject(with:)\".",
            ])
    }
}
