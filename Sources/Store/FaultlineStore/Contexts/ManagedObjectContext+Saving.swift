import CSQLite
import FaultlineModel
import FaultlineRecorder
import FaultlineTrace

extension ManagedObjectContext {
    /// Writes all changes to the stores of their objects, or none of them.
    ///
    /// A context with a ``parent`` saves to the parent instead: the save sets the changed properties in the parent,
    /// where they are unsaved changes, and runs no statement. New objects keep their temporary IDs until the last
    /// ancestor saves. A changed object that the parent has deleted or rolled back is a conflict.
    ///
    /// The ``mergePolicy`` resolves conflicts: objects that another writer has changed or deleted since they were read,
    /// and unique values that are already in the store.
    ///
    /// The cost depends on the number of changes, not of objects in the context. Without changes, no statement runs.
    ///
    /// - Throws: ``StoreError`` if an object cannot be saved, if it conflicts with another writer's save and the policy
    ///   is ``MergePolicy/error``, or if a store cannot be written. Also throws the error of an earlier read that could
    ///   not throw, if no fetch or save has thrown it yet. The stores are then unchanged, and so is the context, unless
    ///   another policy has already merged other saves into it. Of several stores, each is checked and written before
    ///   the first is committed. If a commit still fails, ``StoreError/savedStores`` lists the stores that were
    ///   committed, and the changes for the others stay unsaved.
    public func save(
        fileID: StaticString = #fileID, line: UInt = #line, function: StaticString = #function
    ) throws {
        checkQueue()
        updateStoresIfChanged()
        applyPermanentKeys()
        try throwReadError()
        postChanges()
        guard hasChanges else { return forgetUnchanged() }
        if ContextNotification.willSave.isWanted {
            post(.willSave, [])
            postChanges()
        }
        try callWillSave()
        // A save to a parent runs no statement.
        if parent == nil {
            logRequest("save", (fileID, line, function), to: persistentStoreCoordinator.stores)
        }
        var attempt = SaveAttempt(
            span: recorder.begin().map { SaveSpan($0, recorder, origin(at: (fileID, line, function))) })
        let outcome = Result { while try !write(&attempt) {} }
        // An attempt that failed before it reached the store, or had nothing to write, is not recorded.
        if attempt.hasBegun { attempt.span?.end(outcome.failure) } else { attempt.span?.cancel() }
        // After a failure too, because some of several stores may have been saved.
        if let done = attempt.done { tell(done) }
        try outcome.get()
    }

    /// Logs a request's call site once in each log of the stores that it writes to.
    func logRequest(_ kind: StaticString, _ site: CallerSite, to stores: [SQLStore]) {
        var logs: [SQLDebugLog] = []
        for store in stores where store.log.isOn && !logs.contains(where: { $0 === store.log }) {
            logs.append(store.log)
            store.log.request(kind, site)
        }
    }

    /// The state of a save across its attempts.
    struct SaveAttempt {
        var span: SaveSpan?
        var count = 0
        /// Whether an attempt has reached the store or the parent.
        var hasBegun = false
        /// Objects that the store no longer has and that must be inserted again.
        var revived: Set<ManagedObject> = []
        /// Whether rows give up their unique values before other rows take them.
        var clearsUniqueValues = false

        /// The changes that were saved.
        var done: Done?

        struct Done {
            var changes: ChangeSet
            /// The objects with unsaved changes, including those with only relationship changes.
            var updated: [ManagedObject] = []
            /// The objects whose class overrides ``ManagedObject/didSave()``.
            var listeners: ContiguousArray<ManagedObject>
            /// The objects whose rows were changed by triggers.
            var affected: [ManagedObjectID] = []
        }

        /// The maximum number of attempts; other writers can win every time.
        static let most = 1000

        /// Sets the event of the latest attempt, and adds the costs of the earlier ones.
        mutating func add(_ next: @autoclosure () -> TraceEvent.Save) {
            span?.update { event in
                let before = event
                event = next()
                event.trips += before.trips
                event.conflicts += before.conflicts
                event.bytes += before.bytes
                event.lockWait += before.lockWait
            }
        }
    }

    /// Writes the changes.
    ///
    /// - Returns: `true` if they were written; `false` if conflicts were merged and the caller must try again.
    private func write(_ attempt: inout SaveAttempt) throws -> Bool {
        // An object that was refreshed with its changes kept is a fault: its values are compared with the store's
        // current ones. An object that has only lost members, such as the author of deleted posts, writes no row.
        for object in updated where object.flags.isSuperset(of: [.isFault, .isUpdated]) && object.writesRow {
            fire(object)
        }
        // A deletion needs the version of the row.
        deletionDepth += 1
        for object in deleted where object.flags.isSuperset(of: [.isFault, .isDeleted]) { fire(object) }
        deletionDepth -= 1
        let changes = ChangeSet(self, revived: attempt.revived)
        try Validation.check(changes, in: self)
        try throwReadError()
        var done = SaveAttempt.Done(changes: changes, listeners: changedObjects(thatOverride: .didSave))
        let isObserved = ContextNotification.didSave.isWanted || ContextNotification.didSaveIDs.isWanted
        if isObserved || !persistentStoreCoordinator.mergingContexts.isEmpty { done.updated = updatedObjects }
        if let parent {
            guard try write(changes, into: parent, &attempt) else { return false }
            markAllSaved()
            attempt.done = done
            return true
        }
        guard !changes.isEmpty else {
            markAllSaved()
            attempt.done = done
            return true
        }
        let parts = try parts(of: changes)
        attempt.hasBegun = true
        attempt.count += 1
        var transaction = JointTransaction(
            parts.map { store, changes in
                var execution = SaveExecution(store, changes, attempt.span?.part)
                execution.clearsUniqueValues = attempt.clearsUniqueValues
                if store.history != nil { execution.author = historyAuthor }
                return execution
            })
        do throws(StoreError) {
            try transaction.run(for: attempt.span.origin())
        } catch {
            attempt.add(event(transaction.parts))
            guard transaction.committed.isEmpty else {
                keep(transaction, &done)
                attempt.done = done
                throw error
            }
            do {
                // If the save is tried again, new objects keep their reserved keys.
                try resolve(error, transaction.parts[transaction.failed ?? 0], &attempt)
            } catch {
                for object in changes.inserted { object.pending?.newKey = 0 }
                throw error
            }
            return false
        }
        attempt.add(event(transaction.parts))
        // The executions retain the new rows' blocks until the objects do.
        withExtendedLifetime(transaction) {
            for part in transaction.parts { take(part, &done) }
            markAllSaved()
        }
        attempt.done = done
        return true
    }

    /// The changes to write, by store.
    private func parts(of changes: ChangeSet) throws(StoreError) -> [(SQLStore, ChangeSet)] {
        if stores.count == 1 {
            try stores[0].checkWritable(doing: "Saving")
            return [(stores[0], changes)]
        }
        try changes.checkStores()
        var parts: [(SQLStore, ChangeSet)] = []
        for store in stores {
            let part = changes.part(in: store)
            guard !part.isEmpty || store.identity.withMetadata({ $0.unsaved != nil }) else { continue }
            try store.checkWritable(doing: "Saving")
            parts.append((store, part))
        }
        return parts
    }

    /// Merges the objects in conflict before the next attempt.
    ///
    /// - Throws: The error if the policy does not merge, or if merging does not help.
    private func resolve(
        _ error: StoreError, _ part: SaveExecution, _ attempt: inout SaveAttempt
    ) throws(StoreError) {
        let (changes, store) = (part.changes, part.store)
        let isLast = attempt.count >= SaveAttempt.most
        if error.code == .conflict {
            let found = try VersionConflicts(changes, in: store)
            attempt.span?.event.conflicts += UInt32(clamping: max(0, found.conflicts.count - 1))
            if mergePolicy == .error || isLast { throw found.error(error) }
            attempt.revived = attempt.revived.filter { $0.flags.isDisjoint(with: [.isDeleted, .isDetached]) }
            attempt.revived.formUnion(resolve(found))
        } else if error.sqliteCode == StoreError.uniqueViolation {
            let found = try ConstraintConflicts(changes, in: store)
            attempt.span?.event.conflicts += UInt32(clamping: found.conflicts.count)
            if found.isEmpty {
                if attempt.clearsUniqueValues || isLast { throw error }
            } else {
                if mergePolicy == .error || isLast { throw found.error(error, self) }
                resolve(found)
            }
            // A row that frees a unique value may be written after the row that takes it.
            attempt.clearsUniqueValues = true
        } else {
            throw error
        }
    }

    private func event(_ parts: [SaveExecution]) -> TraceEvent.Save {
        var event = TraceEvent.Save()
        for part in parts {
            if let span = part.span { event.add(self.event(part, span)) }
        }
        return event
    }

    private func event(_ execution: SaveExecution, _ span: SaveSpan) -> TraceEvent.Save {
        recorder.measuringCost {
            var event = span.event
            event.entities = counts(
                inserted: execution.changes.inserted,
                updated: execution.objects.filter { !$0.isInserted } + execution.rearranged,
                deleted: execution.changes.deleted)
            if !hasUndoManager { event.unread = execution.changes.unread { recorder.hash($0) } }
            return event
        }
    }

    /// The number of objects that a save wrote, by entity.
    func counts(
        inserted: [ManagedObject], updated: [ManagedObject], deleted: [ManagedObject]
    ) -> [TraceEvent.Save.Change] {
        var counts: [Int: TraceEvent.Save.Change] = [:]
        func count(_ objects: [ManagedObject], _ path: WritableKeyPath<TraceEvent.Save.Change, UInt64>) {
            for object in objects {
                let id = object.runtime.traceID(recorder)
                counts[object.runtime.schema.index, default: TraceEvent.Save.Change(entity: id)][keyPath: path] += 1
            }
        }
        count(inserted, \.inserted)
        count(updated, \.updated)
        count(deleted, \.deleted)
        return counts.sorted { $0.key < $1.key }.map(\.value)
    }

    // MARK: - Saved changes

    /// Gives objects their new keys and rows.
    private func take(_ part: SaveExecution, _ done: inout SaveAttempt.Done) {
        let store = part.store
        updateKeys(of: part.changes.inserted)
        part.changes.inserted.forEachHeld { settle($0, wasInserted: true) }
        var position = 0
        part.objects.forEachHeld { object in
            let row = part.rows[position]
            object.row = row
            object.block = row.block
            position += 1
        }
        for (root, row, _) in part.refreshed {
            let entity = store.entities[Int(row.header.pointee.entity)]
            done.affected.append(ManagedObjectID(store: store.identity, entity: entity.schema, key: row.key))
            guard let object = identities.object(map: store.entities[root].map, key: row.key), !object.isFault,
                object.runtime === entity
            else { continue }
            object.row = row
            object.block = row.block
        }
    }

    /// Marks all changes as saved.
    private func markAllSaved() {
        for object in updated where !object.isDeleted { settle(object) }
        for object in deleted { markDeletionSaved(of: object) }
        (inserted, updated, deleted) = ([], [], [])
        saveCount += 1
    }

    /// Marks the changes of the committed stores as saved, after another store failed to commit.
    private func keep(_ transaction: JointTransaction<SaveExecution>, _ done: inout SaveAttempt.Done) {
        let saved = transaction.committed.map { transaction.parts[$0] }
        func isSaved(_ object: ManagedObject) -> Bool { saved.contains { $0.store === object.runtime.store } }
        for part in saved { take(part, &done) }
        for object in updated where !object.isDeleted && isSaved(object) { settle(object) }
        for object in deleted where isSaved(object) { markDeletionSaved(of: object) }
        inserted.removeAll(where: isSaved)
        updated.removeAll(where: isSaved)
        deleted.removeAll(where: isSaved)
        for object in inserted { object.pending?.newKey = 0 }
        saveCount += 1
        done.changes.inserted.removeAll { !isSaved($0) }
        done.changes.deleted.removeAll { !isSaved($0) }
        done.updated.removeAll { !isSaved($0) }
        done.listeners.removeAll { !isSaved($0) }
    }

    private func markDeletionSaved(of object: ManagedObject) {
        identities.remove(object)
        release(object)
        settle(object)
        object.flags.remove(.isDeleted)
        object.flags.insert(.isDetached)
    }

    func settle(_ object: ManagedObject, wasInserted: Bool = false) {
        object.pending = nil
        object.flags.subtract(wasInserted ? [.hasPending, .isUpdated, .isInserted] : [.hasPending, .isUpdated])
        if object.hasToMany { for state in object.toMany.values { state.wasSaved() } }
    }

    /// Discards objects that were inserted and deleted again, because they leave nothing to save.
    private func forgetUnchanged() {
        guard !inserted.isEmpty || !updated.isEmpty || !deleted.isEmpty else { return }
        for object in inserted where object.flags.contains(.isDeleted) { object.flags.insert(.isDetached) }
        (inserted, updated, deleted) = ([], [], [])
    }

    // MARK: - Notifying others

    /// Notifies the objects, observers and other contexts of a save.
    private func tell(_ done: SaveAttempt.Done) {
        let (changes, updated) = (done.changes, done.updated)
        advanceSnapshot()
        for object in done.listeners { object.didSave() }
        if ContextNotification.didSave.isWanted {
            post(
                .didSave,
                [
                    (.insertedObjects, Set(changes.inserted)), (.updatedObjects, Set(updated)),
                    (.deletedObjects, Set(changes.deleted)),
                ])
        }
        // A child's save does not reach the store, so contexts of the coordinator have nothing to merge.
        let merging = parent == nil ? persistentStoreCoordinator.mergingContexts : nil
        guard ContextNotification.didSaveIDs.isWanted || merging?.isEmpty == false else { return }
        var saved = SavedObjectIDs(
            inserted: Set(changes.inserted.map(\.objectID)), updated: Set(updated.map(\.objectID)),
            deleted: Set(changes.deleted.map(\.objectID)))
        saved.updated.formUnion(done.affected)
        saved.updated.subtract(saved.inserted)
        saved.updated.subtract(saved.deleted)
        if recorder.isEnabled { saved.saver = traceID }
        if ContextNotification.didSaveIDs.isWanted { post(.didSaveIDs, saved) }
        merging?.tell(saved, from: self)
    }
}

extension Result {
    fileprivate var failure: Failure? { if case .failure(let error) = self { error } else { nil } }
}
