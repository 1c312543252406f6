import FaultlineModel
import FaultlineRecorder
import FaultlineTrace
public import Foundation
import Synchronization

extension ManagedObjectContext {
    /// Merges another context's save into this one.
    ///
    /// Objects that this context has show the new values at once, deleted ones are discarded, and relationships are
    /// read again on access. Unsaved changes stay: if both contexts have changed an object, this context's values are
    /// applied on top of the new ones, and saving them is no longer a conflict. Relationships no longer lead to a
    /// discarded object.
    ///
    /// Objects that this context does not have cost nothing. Call this on the context's queue.
    public func mergeChanges(
        fromContextDidSave saved: SavedObjectIDs, fileID: StaticString = #fileID, line: UInt = #line,
        function: StaticString = #function
    ) {
        merge(saved, .call, site: recorder.site(fileID: fileID, line: line, function: function))
    }

    /// Merges another context's save, given its notification; see
    /// ``mergeChanges(fromContextDidSave:fileID:line:function:)-(SavedObjectIDs,_,_,_)``.
    ///
    /// A notification must stay on the queue where it arrives, so call this inside
    /// ``performAndWait(fileID:line:function:_:)``. To pass a
    /// save to another queue, create ``SavedObjectIDs`` from the notification. Any other notification is ignored.
    public func mergeChanges(
        fromContextDidSave notification: Notification, fileID: StaticString = #fileID, line: UInt = #line,
        function: StaticString = #function
    ) {
        guard let saved = SavedObjectIDs(notification) else { return }
        mergeChanges(fromContextDidSave: saved, fileID: fileID, line: line, function: function)
    }

    /// Merges a save of another writer, such as another process, into several contexts.
    ///
    /// The changed objects' rows in memory are discarded, and read from the file again on access.
    ///
    /// - Parameters:
    ///   - changes: IDs, or URLs of IDs, in a set or an array under the raw value of each ``NotificationKey``. Those of
    ///     other stores are ignored.
    ///   - contexts: The contexts to merge into. Each merges on its queue, before the call returns.
    public static func mergeChanges(
        fromRemoteContextSave changes: [AnyHashable: Any], into contexts: [ManagedObjectContext],
        fileID: StaticString = #fileID, line: UInt = #line, function: StaticString = #function
    ) {
        for context in contexts {
            func ids(_ keys: NotificationKey...) -> Set<ManagedObjectID> {
                Set(keys.flatMap { context.identities(in: changes[AnyHashable($0.rawValue)]) })
            }
            let saved = SavedObjectIDs(
                inserted: ids(.insertedObjects, .insertedObjectIDs),
                updated: ids(.updatedObjects, .updatedObjectIDs, .refreshedObjects),
                deleted: ids(.deletedObjects, .deletedObjectIDs))
            context.performAndWait {
                context.merge(
                    saved, .remote, site: context.recorder.site(fileID: fileID, line: line, function: function))
            }
        }
    }

    private func identities(in value: Any?) -> [ManagedObjectID] {
        let values = (value as? Set<AnyHashable>).map { $0.map(\.base) } ?? value as? [Any] ?? []
        return values.compactMap { value in
            if let id = value as? ManagedObjectID { return id }
            return (value as? URL).flatMap { persistentStoreCoordinator.managedObjectID(forURIRepresentation: $0) }
        }
    }

    /// Whether the context automatically merges the saves of its coordinator's other contexts or, with a ``parent``,
    /// the parent's changes; see ``mergeChanges(fromContextDidSave:fileID:line:function:)-(SavedObjectIDs,_,_,_)``.
    ///
    /// A parent changes when the program changes its objects, when a child saves, and when the parent merges a save.
    ///
    /// Default: `false`. The context merges on its queue, soon after the save and at the latest before the next
    /// `perform` or ``processPendingChanges()``. So a main-queue context also merges in a program whose main thread
    /// runs no loop.
    public var automaticallyMergesChangesFromParent: Bool {
        get { mergingContexts.contains(self) }
        set { mergingContexts.set(self, isMerging: newValue) }
    }

    private var mergingContexts: MergingContexts { parent?.followers ?? persistentStoreCoordinator.mergingContexts }

    /// Stores another context's save to merge it later; called on the thread that saved.
    func receive(_ saved: SavedObjectIDs) {
        let isFirst = receivedSaves.withLock { received in
            received.append(saved)
            return received.count == 1
        }
        if isFirst { scheduleMerge() }
    }

    /// Schedules the merge of received saves on the context's queue.
    func scheduleMerge() {
        queue.async { [weak self] in
            guard let self else { return }
            enterGate()
            defer { leaveGate() }
            runOnQueue(outer: nil) {}
        }
    }

    /// Applies the permanent keys and merges the saves that were received since the last call.
    func mergeReceived() {
        applyPermanentKeys()
        let received = receivedSaves.withLock { received in
            defer { received = [] }
            return received
        }
        for saved in received { merge(saved, .automatic, site: 0) }
    }

    // MARK: - Merging

    private func merge(_ saved: SavedObjectIDs, _ trigger: TraceEvent.Merge.Trigger, site: DictionaryID) {
        checkQueue()
        updateStoresIfChanged()
        let saved = saved.belonging(to: stores)
        let open = recorder.begin()
        var event = TraceEvent.Merge()
        // A read burst that is still open may not see the save.
        finishReading()
        advanceSnapshot()
        if trigger == .remote || saved.isFromHistory {
            for id in saved.updated.union(saved.deleted) {
                store(id.store)?.rows.remove(root: id.entity.root, key: id.key)
            }
        }
        if saved.isEverything { refreshAllObjects() }
        let gone = Set(saved.deleted.compactMap { registeredObject(for: $0) })
        for object in gone where object.hasChanges { event.conflicts += 1 }
        discardObjects(gone)
        event.refreshed += UInt32(clamping: gone.count)
        for id in saved.updated.union(saved.inserted) {
            guard let object = registeredObject(for: id), mergeStoredValues(object) else { continue }
            event.refreshed += 1
            if object.hasChanges { event.conflicts += 1 }
            logChange { $0.refresh(object) }
        }
        logChange { log in
            for id in saved.inserted { log.insert(object(with: id)) }
        }
        if let open {
            event.trigger = trigger
            event.saver = saved.saver
            event.inserted = UInt32(clamping: saved.inserted.count)
            event.updated = UInt32(clamping: saved.updated.count)
            event.deleted = UInt32(clamping: saved.deleted.count)
            event.entities = entities(of: saved)
            recorder.end(open, event, context: traceID, site: site)
        }
        if ContextNotification.didMergeIDs.isWanted { post(.didMergeIDs, saved) }
        postChanges()
    }

    /// Updates an object to the store's values, with its unsaved changes on top.
    ///
    /// - Returns: `false` if the object is new here or was discarded, and needs no update.
    func mergeStoredValues(_ object: ManagedObject) -> Bool {
        guard object.flags.isDisjoint(with: [.isInserted, .isDetached]) else { return false }
        object.forgetUnchangedValues()
        for state in object.toMany.values { state.unload() }
        object.toMany = object.toMany.filter { $0.value.hasChanges }
        (object.prefetched, object.partial) = (nil, nil)
        object.fetched = [:]
        object.flags.remove(.isGone)
        let rows = pool(of: object.runtime.store).rows
        // A child's object becomes a fault, because firing it asks the parent.
        let isAtHand = !object.isFault && parent == nil
        let known = isAtHand ? rows.row(root: object.runtime.schema.root, key: object.key) : nil
        if let known, Int(known.row.header.pointee.entity) == object.runtime.schema.index {
            (object.row, object.block) = (known.row, known.block)
        } else {
            (object.row, object.block) = (nil, nil)
            object.flags.insert(.isFault)
        }
        return true
    }

    /// Discards objects that are no longer in the store, and unsaved references to them.
    func discardObjects(_ gone: Set<ManagedObject>) {
        guard !gone.isEmpty else { return }
        for object in gone {
            identities.remove(object)
            release(object)
            object.pending = nil
            object.toMany = [:]
            object.flags.remove([.hasPending, .isUpdated, .isDeleted])
            object.flags.insert(.isDetached)
            logChange { $0.delete(object) }
        }
        inserted.removeAll { gone.contains($0) }
        updated.removeAll { gone.contains($0) }
        deleted.removeAll { gone.contains($0) }
        for object in inserted + updated {
            if let pending = object.pending {
                for index in pending.indices {
                    if case .object(let other) = pending[index], gone.contains(other) { pending[index] = .null }
                }
            }
            for state in object.toMany.values { state.forget(gone) }
        }
    }

    private func entities(of saved: SavedObjectIDs) -> [TraceEvent.Save.Change] {
        var changes: [Int: TraceEvent.Save.Change] = [:]
        func count(_ ids: Set<ManagedObjectID>, _ path: WritableKeyPath<TraceEvent.Save.Change, UInt64>) {
            for id in ids {
                guard let entity = runtime(of: id)?.traceID(recorder) else { continue }
                changes[id.entity.index, default: TraceEvent.Save.Change(entity: entity)][keyPath: path] += 1
            }
        }
        count(saved.inserted, \.inserted)
        count(saved.updated, \.updated)
        count(saved.deleted, \.deleted)
        return changes.sorted { $0.key < $1.key }.map(\.value)
    }
}

extension SavedObjectIDs {
    fileprivate func belonging(to stores: [SQLStore]) -> SavedObjectIDs {
        func isOwn(_ id: ManagedObjectID) -> Bool { stores.contains { $0.identity === id.store } }
        var own = self
        // IDs of other stores are rare.
        if !inserted.allSatisfy(isOwn) { own.inserted = inserted.filter(isOwn) }
        if !updated.allSatisfy(isOwn) { own.updated = updated.filter(isOwn) }
        if !deleted.allSatisfy(isOwn) { own.deleted = deleted.filter(isOwn) }
        return own
    }
}
