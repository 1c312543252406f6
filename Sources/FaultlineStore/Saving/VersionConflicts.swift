import FaultlineModel
import FaultlineRecorder

/// Objects of a save that another writer has changed or deleted since they were read.
struct VersionConflicts {
    struct Conflict {
        var object: ManagedObject
        /// The row that is in the store now; `nil` if there is none.
        var row: RowPointer?
        /// The block that holds the row.
        var block: RowBlock?
    }

    private(set) var conflicts: [Conflict] = []

    /// Compares the objects that a save changes with the store.
    ///
    /// - Complexity: one lookup in the store for each object that the save changes.
    init(_ changes: ChangeSet, in store: SQLStore) throws(StoreError) {
        store.finishReading()
        let found = try store.writer.locked { () throws(StoreError) in
            var found: [Conflict] = []
            for object in changes.updated + changes.deleted {
                let conflict = try Self.look(for: object, in: store)
                if conflict.row?.header.pointee.version != object.row?.header.pointee.version { found.append(conflict) }
            }
            for object in changes.related where !found.contains(where: { $0.object === object }) {
                let conflict = try Self.look(for: object, in: store)
                if conflict.row == nil { found.append(conflict) }
            }
            return found
        }
        conflicts = found
    }

    private static func look(for object: ManagedObject, in store: SQLStore) throws(StoreError) -> Conflict {
        let loaded = try store.writer.loadRowAsEvent(
            object.runtime, key: object.key, origin: TraceOrigin(context: object.managedObjectContext.traceID))
        return Conflict(object: object, row: loaded?.row, block: loaded?.block)
    }

    var isEmpty: Bool { conflicts.isEmpty }

    /// The conflicts in their public form.
    func described() -> [MergeConflict] {
        conflicts.map { conflict in
            let object = conflict.object
            let persisted = conflict.row.flatMap { row in
                conflict.block.map { object.reader(of: row, $0) }
            }
            return MergeConflict(
                objectID: object.objectID, objectSnapshot: object.isDeleted ? nil : object.snapshot(),
                cachedSnapshot: object.storedSnapshot(), persistedSnapshot: persisted?.storedSnapshot(),
                oldVersionNumber: Int(object.row?.header.pointee.version ?? 0),
                newVersionNumber: Int(conflict.row?.header.pointee.version ?? 0))
        }
    }

    /// The error to throw under the policy ``MergePolicy/error``.
    func error(_ first: StoreError) -> StoreError {
        var error = first
        error.conflicts = described()
        if let lead = conflicts.first, conflicts.count > 1 {
            let others = conflicts.count == 2 ? "another object" : "\(conflicts.count - 1) other objects"
            error.message =
                "Saving \(lead.object.entityName) \(lead.object.objectID) and \(others): other writers changed or deleted them since they were read; refresh them and make the changes again."
            error.objectID = lead.object.objectID
        }
        return error
    }
}
