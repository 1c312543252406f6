import CSQLite
import FaultlineModel
import FaultlineRecorder
import FaultlineTrace

extension ManagedObjectContext {
    /// Writes all changes to the store: either all of them or none.
    ///
    /// The cost follows what was changed, not what the context holds; without changes no statement runs.
    ///
    /// - Throws: ``StoreError`` if an object cannot be saved as it is, another writer changed an object since it was
    ///   read, or the store cannot be written; also what could not be read since the last fetch or save where reading
    ///   cannot throw. The context and the store are then as they were.
    public func save(
        fileID: StaticString = #fileID, line: UInt = #line, function: StaticString = #function
    ) throws {
        try throwReadError()
        guard hasChanges else { return forgetUnchanged() }
        try callWillSave()
        // Refreshed with its changes kept: what was set is compared with what the store has now.
        for object in updated where object.flags.isSuperset(of: [.isFault, .isUpdated]) { fire(object) }
        // A deletion needs the version of the row.
        for object in deleted where object.flags.isSuperset(of: [.isFault, .isDeleted]) { fire(object) }
        let changes = ChangeSet(self)
        try Validation.check(changes, in: self)
        try throwReadError()
        let saved = changedObjects(thatOverride: .didSave)
        if changes.isEmpty { finish(changes, [], []) } else { try write(changes, (fileID, line, function)) }
        for object in saved { object.didSave() }
    }

    private func write(
        _ changes: ChangeSet, _ site: (fileID: StaticString, line: UInt, function: StaticString)
    ) throws(StoreError) {
        let recorder = store.recorder
        let open = recorder.begin()
        let origin =
            open == nil
            ? TraceOrigin()
            : TraceOrigin(
                context: traceID,
                site: recorder.site(fileID: site.fileID, line: site.line, function: site.function))
        let asked = open == nil ? 0 : recorder.now()
        var execution = SaveExecution(store, changes, origin: origin, isRecording: open != nil)
        var wait: UInt64 = 0
        do throws(StoreError) {
            try store.locked { () throws(StoreError) in
                if open != nil { wait = recorder.now() - asked }
                try execution.run()
            }
            if let open { recorder.end(open, event(execution, wait), context: origin.context, site: origin.site) }
        } catch {
            for object in changes.inserted { object.pending?.newKey = 0 }
            if let open {
                var event = event(execution, wait)
                event.error = UInt32(bitPattern: error.sqliteCode == 0 ? SQLITE_ABORT : error.sqliteCode)
                recorder.end(open, event, context: origin.context, site: origin.site)
            }
            throw error
        }
        // The execution holds the new rows' blocks until the objects do.
        withExtendedLifetime(execution) {
            finish(changes, execution.objects, execution.rows)
            for (root, row, _) in execution.refreshed {
                guard let object = identities.object(root: root, key: row.key), !object.isFault,
                    Int(row.header.pointee.entity) == object.runtime.schema.index
                else { continue }
                object.row = row
                object.block = row.block
            }
        }
    }

    /// Gives new objects the identities that they will have once they are saved.
    ///
    /// They stay unsaved; keys of objects that never are stay unused. Objects whose identity is permanent keep it.
    ///
    /// - Throws: ``StoreError`` if the store cannot be written; no identity has changed then.
    public func obtainPermanentIDs(
        for objects: [ManagedObject], fileID: StaticString = #fileID, line: UInt = #line,
        function: StaticString = #function
    ) throws {
        let wanted = objects.filter { $0.isInserted && $0.objectID.isTemporaryID && $0.managedObjectContext === self }
        guard !wanted.isEmpty else { return }
        let recorder = store.recorder
        let isRecording = recorder.isEnabled
        let origin =
            isRecording
            ? TraceOrigin(
                context: traceID, site: recorder.site(fileID: fileID, line: line, function: function)) : TraceOrigin()
        var execution = SaveExecution(store, ChangeSet(inserted: wanted), origin: origin, isRecording: isRecording)
        do throws(StoreError) {
            try store.locked { () throws(StoreError) in try execution.obtainKeys() }
        } catch {
            for object in wanted { object.pending?.newKey = 0 }
            throw error
        }
        for object in wanted { takeNewKey(object) }
    }

    /// Registers a new object under the key that was reserved for it.
    private func takeNewKey(_ object: ManagedObject) {
        identities.remove(object)
        object.key = object.pending!.newKey
        identities.insert(object)
    }

    private func event(_ execution: SaveExecution, _ wait: UInt64) -> TraceEvent.Save {
        var event = execution.event
        event.lockWait += wait
        var counts: [Int: TraceEvent.Save.Change] = [:]
        func count(_ objects: [ManagedObject], _ path: WritableKeyPath<TraceEvent.Save.Change, UInt64>) {
            for object in objects {
                let id = object.runtime.traceID(store.recorder, store.schema)
                counts[object.runtime.schema.index, default: TraceEvent.Save.Change(entity: id)][keyPath: path] += 1
            }
        }
        count(execution.changes.inserted, \.inserted)
        count(execution.objects.filter { !$0.isInserted }, \.updated)
        count(execution.changes.deleted, \.deleted)
        event.entities = counts.sorted { $0.key < $1.key }.map(\.value)
        return event
    }

    /// Makes the saved state the objects' state.
    private func finish(
        _ changes: ChangeSet, _ written: [ManagedObject], _ rows: ContiguousArray<RowPointer>
    ) {
        for object in changes.inserted {
            takeNewKey(object)
            object.flags.remove(.isInserted)
        }
        for (object, row) in zip(written, rows) {
            object.row = row
            object.block = row.block
        }
        for object in changes.inserted { settle(object) }
        for object in updated where !object.isDeleted { settle(object) }
        for object in deleted {
            identities.remove(object)
            release(object)
            settle(object)
            object.flags.remove(.isDeleted)
            object.flags.insert(.isDetached)
        }
        (inserted, updated, deleted) = ([], [], [])
        saveCount += 1
    }

    private func settle(_ object: ManagedObject) {
        object.pending = nil
        object.flags.remove([.hasPending, .isUpdated])
        for state in object.toMany.values { state.wasSaved() }
    }

    /// Objects that were inserted and deleted again leave nothing to save.
    private func forgetUnchanged() {
        guard !inserted.isEmpty || !updated.isEmpty || !deleted.isEmpty else { return }
        for object in inserted where object.flags.contains(.isDeleted) { object.flags.insert(.isDetached) }
        (inserted, updated, deleted) = ([], [], [])
    }
}
