internal import FaultlineFindings
internal import FaultlineProfile

/// A table that Core Data keeps for itself, and what a program can do about the statements on it.
///
/// No code of the program runs them, so advice is about the feature that does.
enum CoreDataTable {
    /// Persistent history, which records who changed what.
    case history
    /// The mirroring of a store to CloudKit.
    case mirroring
    /// The keys of new objects.
    case keys
    /// The pairs of a many-to-many relationship, whose name in capitals the table's name ends with.
    case pairs(relationship: String)

    /// - Returns: `nil` if the table holds the objects of an entity, or the trace is not Core Data's.
    init?(_ table: String?, _ profile: Profile) {
        guard profile.allProcesses.usesCoreData, let table else { return nil }
        let isNumbered = table.hasPrefix("Z_") && table.dropFirst(2).first?.isNumber == true
        if ["ACHANGE", "ATRANSACTION", "ATRANSACTIONSTRING"].contains(table) {
            self = .history
        } else if table.hasPrefix("ANSCK") {
            self = .mirroring
        } else if table == "Z_PRIMARYKEY" {
            self = .keys
        } else if isNumbered {
            self = .pairs(relationship: table.dropFirst(2).drop { $0.isNumber }.lowercased())
        } else {
            return nil
        }
    }

    /// What its statements belong to.
    var owner: Wording {
        switch self {
        case .history: "Core Data's persistent history"
        case .mirroring: "the mirroring to CloudKit"
        case .keys: "saves that insert objects"
        case .pairs(let relationship): "a many-to-many relationship, \(code: relationship)"
        }
    }

    /// Rewrites a finding about the statements on a table.
    ///
    /// - Parameters:
    ///   - table: The table's name.
    ///   - verb: What the statements do: "read" or "write".
    func describe(_ finding: inout Finding, _ table: String, runs: UInt64, verb: String) {
        let times: Wording = "Core Data \(verb)s \(entity: table) \(count: runs, "time")"
        switch self {
        case .history:
            finding.title = "Keep and fetch less persistent history: \(times)"
            finding.fix =
                "Delete the history that every consumer has processed, and fetch only the transactions of other authors. Fewer "
                + "saves, of more objects each, make fewer transactions."
            finding.code = [
                "let fetch = NSPersistentHistoryChangeRequest.fetchHistory(after: lastToken)",
                "fetch.fetchRequest = NSPersistentHistoryTransaction.fetchRequest",
                "fetch.fetchRequest?.predicate = NSPredicate(format: \"author != %@\", author)",
                "try context.execute(NSPersistentHistoryChangeRequest.deleteHistory(before: lastToken))",
            ]
            finding.alternatives = [
                "A store that is mirrored to CloudKit needs its history until the changes are exported: keep that of some weeks."
            ]
        case .mirroring:
            finding.title = "Give CloudKit fewer changes to mirror: \(times)"
            finding.fix =
                "NSPersistentCloudKitContainer keeps a record of each object, and looks it up for each change that it imports or "
                + "exports. Save in fewer transactions, and move entities that need no mirroring to a configuration of their own."
            finding.code = ["localDescription.cloudKitContainerOptions = nil"]
            finding.alternatives = []
        case .keys:
            finding.title = "Save new objects together: \(times)"
            finding.fix =
                "Each save that inserts objects reserves their keys first. One save for all of them reserves once."
            finding.code = ["try context.save()  // once, after all objects"]
            finding.alternatives = []
        case .pairs(let relationship):
            guard verb == "read" else { return }
            finding.title =
                "Prefetch \(quoted: relationship) instead of reading \(entity: table) \(count: runs, "time")"
            finding.fix =
                "The table holds the pairs of a many-to-many relationship. Prefetched, it is read once for all objects of a fetch."
            finding.code = ["request.relationshipKeyPathsForPrefetching = [\"\(relationship)\"]"]
            finding.alternatives = ["The relationship's name is derived from the table's: correct its capitals."]
        }
        finding.codeLanguage = "swift"
        finding.remedy = nil
        finding.saving.time.low = 0
        finding.severity = min(finding.severity, .warning)
        finding.confidence = min(finding.confidence, .medium("no code of the program runs these statements itself"))
    }
}
