import FaultlineModel
import FaultlineRecorder
import FaultlineTrace
public import Foundation
import Synchronization

extension ManagedObjectContext {
    /// Takes in what another context has saved.
    ///
    /// Objects that this context has and the other changed show the new values at once, those that the other deleted are
    /// gone, and relationships are read anew when they are asked for. Unsaved changes stay: of an object that both have
    /// changed, what this context has set is laid over the new values, and saving it is no conflict any more. What
    /// leads to an object that is gone leads nowhere.
    ///
    /// Objects that this context does not have cost nothing. Call this on the context's queue.
    public func mergeChanges(
        fromContextDidSave saved: SavedObjectIDs, fileID: StaticString = #fileID, line: UInt = #line,
        function: StaticString = #function
    ) {
        merge(saved, .call, site: recorder.site(fileID: fileID, line: line, function: function))
    }

    /// Takes in what another context has saved, as a notification of it tells; see
    /// ``mergeChanges(fromContextDidSave:fileID:line:function:)-(SavedObjectIDs,_,_,_)``.
    ///
    /// A notification must stay on the queue that it arrived on: this is for ``performAndWait(_:)``. To go on to another
    /// queue make ``SavedObjectIDs`` of it. Another notification than that of a save changes nothing.
    public func mergeChanges(
        fromContextDidSave notification: Notification, fileID: StaticString = #fileID, line: UInt = #line,
        function: StaticString = #function
    ) {
        guard let saved = SavedObjectIDs(notification) else { return }
        mergeChanges(fromContextDidSave: saved, fileID: fileID, line: line, function: function)
    }

    /// Takes in what somebody else has saved to a store, such as another process, in several contexts.
    ///
    /// What is in memory of these objects is let go of, and read from the file when it is asked for.
    ///
    /// - Parameters:
    ///   - changes: identities, or the URLs of identities, under the raw values of ``NotificationKey``, each in a set or
    ///     an array. What belongs to another store is left out.
    ///   - contexts: where it is taken in, each on its queue, before the call returns.
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

    /// Whether the context takes in by itself what the other contexts of its coordinator save, or, with a ``parent``, what
    /// changes there; see ``mergeChanges(fromContextDidSave:fileID:line:function:)-(SavedObjectIDs,_,_,_)``.
    ///
    /// A parent changes when the program changes its objects, when a child saves, and when it takes in what others save.
    ///
    /// Default: no. It does so on its queue, soon after the save, and at the latest before the next `perform` or
    /// ``processPendingChanges()``; so in a program whose main thread runs no loop a main context does it as well.
    public var automaticallyMergesChangesFromParent: Bool {
        get { mergingContexts.contains(self) }
        set { mergingContexts.set(self, isMerging: newValue) }
    }

    private var mergingContexts: MergingContexts { parent?.followers ?? persistentStoreCoordinator.mergingContexts }

    /// Takes note of what another context has saved, on the thread that saved.
    func receive(_ saved: SavedObjectIDs) {
        let isFirst = receivedSaves.withLock { received in
            received.append(saved)
            return received.count == 1
        }
        if isFirst { takeInSoon() }
    }

    /// Merges what was received, on the context's queue.
    func takeInSoon() {
        queue.async { [weak self] in
            guard let self else { return }
            enterGate()
            defer { leaveGate() }
            runOnQueue(outer: nil) {}
        }
    }

    /// Takes in what others have saved since the last time.
    func mergeReceived() {
        takePermanentKeys()
        let received = receivedSaves.withLock { received in
            defer { received = [] }
            return received
        }
        for saved in received { merge(saved, .automatic, site: 0) }
    }

    // MARK: - Taking in

    private func merge(_ saved: SavedObjectIDs, _ trigger: TraceEvent.Merge.Trigger, site: DictionaryID) {
        checkQueue()
        noticeStores()
        let saved = saved.belonging(to: stores)
        let open = recorder.begin()
        var event = TraceEvent.Merge()
        // A burst of reading may go on that does not see the save yet.
        finishReading()
        takeOn()
        if trigger == .remote {
            for id in saved.updated.union(saved.deleted) {
                store(id.store)?.rows.remove(root: id.entity.root, key: id.key)
            }
        }
        if saved.isEverything { refreshAllObjects() }
        let gone = Set(saved.deleted.compactMap { registeredObject(for: $0) })
        for object in gone where object.hasChanges { event.conflicts += 1 }
        letGo(of: gone)
        event.refreshed += UInt32(clamping: gone.count)
        for id in saved.updated.union(saved.inserted) {
            guard let object = registeredObject(for: id), takeIn(object) else { continue }
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

    /// Makes an object show what the store has, with its unsaved changes laid over it.
    ///
    /// - Returns: whether there was anything to do: not for an object that is new here, or was let go of.
    func takeIn(_ object: ManagedObject) -> Bool {
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

    /// Lets go of objects that are not in the store any more, and of what leads to them.
    func letGo(of gone: Set<ManagedObject>) {
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
        // Seldom anything else.
        if !inserted.allSatisfy(isOwn) { own.inserted = inserted.filter(isOwn) }
        if !updated.allSatisfy(isOwn) { own.updated = updated.filter(isOwn) }
        if !deleted.allSatisfy(isOwn) { own.deleted = deleted.filter(isOwn) }
        return own
    }
}
