import FaultlineModel
import FaultlineRecorder
import FaultlineTrace

extension ManagedObjectContext {
    /// Saves changes to the parent.
    ///
    /// - Returns: Whether it is done; otherwise conflicts were resolved, and the caller tries again.
    func write(
        _ changes: ChangeSet, into parent: ManagedObjectContext, _ attempt: inout SaveAttempt
    ) throws(StoreError) -> Bool {
        attempt.hasBegun = true
        attempt.count += 1
        var save = ParentSave(changes, from: self, into: parent, revived: attempt.revived)
        let site = attempt.span.origin().site
        let lost = try inParent(parent, site: site) { () throws(StoreError) in try save.run() }
        guard lost.isEmpty else {
            try resolve(lost, in: parent, &attempt)
            return false
        }
        if let span = attempt.span { describe(save, span) }
        keepRows(of: save)
        for object in save.inserted { settle(object, wasInserted: true) }
        return true
    }

    /// Gives saved objects rows with their values, because their changes are about to be dropped.
    private func keepRows(of save: ParentSave) {
        for object in save.inserted + save.updated where object.pending != nil {
            let made = object.rowWithChanges()
            (object.row, object.block) = (made.row, made.block)
        }
    }

    /// Resolves changes of objects that the parent no longer has, by the merge policy.
    private func resolve(
        _ lost: [ManagedObject], in parent: ManagedObjectContext, _ attempt: inout SaveAttempt
    ) throws(StoreError) {
        attempt.span?.event.conflicts += UInt32(clamping: lost.count)
        guard mergePolicy != .error, attempt.count < SaveAttempt.most else { throw conflict(lost, parent) }
        if mergePolicy.prefersObject {
            attempt.revived.formUnion(lost)
        } else {
            discardObjects(Set(lost))
        }
    }

    private func conflict(_ lost: [ManagedObject], _ parent: ManagedObjectContext) -> StoreError {
        let first = lost[0]
        let others =
            lost.count == 1 ? "" : lost.count == 2 ? " and another object" : " and \(lost.count - 1) other objects"
        var error = StoreError(
            .conflict,
            "Saving \(first.entityName) \(first.objectID)\(others): the parent context '\(parent.name)' has deleted the object that was changed here, or no longer has it; refresh the object, or set a merge policy that prefers one of the two contexts.",
            objectID: first.objectID)
        error.conflicts = lost.map { object in
            MergeConflict(
                objectID: object.objectID, objectSnapshot: object.snapshot(), cachedSnapshot: object.storedSnapshot(),
                persistedSnapshot: nil, oldVersionNumber: 0, newVersionNumber: 0)
        }
        return error
    }

    /// Completes the event of the save.
    private func describe(_ save: ParentSave, _ span: SaveSpan) {
        // An object that has only lost members is not written to a store either.
        let updated = save.updated.filter(\.writesRow)
        span.update { event in
            event.inserted = UInt32(clamping: save.inserted.count)
            event.updated = UInt32(clamping: updated.count)
            event.deleted = UInt32(clamping: save.deleted.count)
            event.changedColumns = UInt32(clamping: save.updated.reduce(0) { $0 + $1.changedSlots().count })
            event.entities = counts(inserted: save.inserted, updated: updated, deleted: save.deleted)
        }
    }
}
