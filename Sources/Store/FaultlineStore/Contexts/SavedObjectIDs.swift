internal import FaultlineRecorder
internal import FaultlineTrace
public import Foundation

/// The IDs of the objects that a save of a context changed.
///
/// Objects stay in their context, but IDs can be passed to any other:
///
///     let token = NotificationCenter.default.addObserver(
///         forName: ManagedObjectContext.didSaveObjectsNotification, object: importContext, queue: nil
///     ) { notification in
///         guard let saved = SavedObjectIDs(notification) else { return }
///         Task { try await listContext.perform { listContext.mergeChanges(fromContextDidSave: saved) } }
///     }
public struct SavedObjectIDs: Sendable, Hashable {
    /// The new objects, with the IDs that they have after the save.
    public var inserted: Set<ManagedObjectID>
    /// The changed objects, including those with only relationship changes.
    public var updated: Set<ManagedObjectID>
    /// The deleted objects.
    public var deleted: Set<ManagedObjectID>
    /// The dictionary ID of the context that saved; 0 if it is not known.
    var saver: DictionaryID = 0
    /// Whether another process may have written the changes, so that rows in memory may be out of date.
    var isFromHistory = false
    /// Whether any object may have changed, because a parent was reset.
    var isEverything = false

    /// Creates the IDs of changes that another writer has saved.
    public init(
        inserted: Set<ManagedObjectID> = [], updated: Set<ManagedObjectID> = [], deleted: Set<ManagedObjectID> = []
    ) {
        self.inserted = inserted
        self.updated = updated
        self.deleted = deleted
    }

    /// Reads the IDs from a save notification: ``ManagedObjectContext/didSaveObjectsNotification`` or
    /// ``ManagedObjectContext/didSaveObjectIDsNotification``.
    ///
    /// Returns `nil` for any other notification. Call this where the notification arrives, on the queue of the context
    /// that saved.
    public init?(_ notification: Notification) {
        guard ContextNotification.saves.contains(notification.name) else { return nil }
        func ids(_ objects: NotificationKey, _ ids: NotificationKey) -> Set<ManagedObjectID> {
            let values = notification.userInfo ?? [:]
            if let found = values[ids.rawValue] as? Set<ManagedObjectID> { return found }
            return Set((values[objects.rawValue] as? Set<ManagedObject> ?? []).map(\.objectID))
        }
        inserted = ids(.insertedObjects, .insertedObjectIDs)
        updated = ids(.updatedObjects, .updatedObjectIDs)
        deleted = ids(.deletedObjects, .deletedObjectIDs)
        saver = (notification.object as? ManagedObjectContext)?.traceID ?? 0
    }

    /// Collects the changes of a parent since it last notified its children.
    init(_ changes: ChangeLog, of parent: ManagedObjectContext) {
        inserted = Set(changes.inserted.map(\.objectID))
        updated = Set(changes.updated.union(changes.refreshed).map(\.objectID))
        deleted = Set(changes.deleted.map(\.objectID))
        if parent.recorder.isEnabled { saver = parent.traceID }
        isEverything = changes.isReset
    }

    private typealias NotificationKey = ManagedObjectContext.NotificationKey

    /// Whether there are no IDs.
    public var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty }
}

extension ManagedObjectContext {
    /// Gives new objects the permanent IDs that they keep when they are saved.
    ///
    /// In a child, this includes objects that an ancestor inserted. The objects stay unsaved, and the key of an object
    /// that is never saved stays unused. Objects that have a permanent ID keep it.
    ///
    /// - Throws: ``StoreError`` if a store cannot be written; no ID has changed then.
    public func obtainPermanentIDs(
        for objects: [ManagedObject], fileID: StaticString = #fileID, line: UInt = #line,
        function: StaticString = #function
    ) throws {
        checkQueue()
        let inherited = objects.filter {
            $0.objectID.isTemporaryID && !$0.flags.contains(.isInserted) && $0.managedObjectContext === self
        }
        if let parent, !inherited.isEmpty {
            try obtainPermanentIDs(ofInherited: inherited, in: parent, (fileID, line, function))
        }
        let wanted = objects.filter { $0.isInserted && $0.objectID.isTemporaryID && $0.managedObjectContext === self }
        guard !wanted.isEmpty else { return }
        updateStoresIfChanged()
        for store in stores where wanted.contains(where: { $0.runtime.store === store }) {
            try store.checkWritable(doing: "Obtaining permanent IDs")
        }
        // Its statements are recorded as separate events.
        let span = recorder.isEnabled ? SaveSpan(nil, recorder, origin(at: (fileID, line, function))) : nil
        do throws(StoreError) {
            for store in stores {
                let own = wanted.filter { $0.runtime.store === store }
                guard !own.isEmpty else { continue }
                var execution = SaveExecution(store, ChangeSet(inserted: own), span)
                try store.writer.locked(for: execution.origin) { () throws(StoreError) in try execution.obtainKeys() }
            }
        } catch {
            for object in wanted { object.pending?.newKey = 0 }
            throw error
        }
        updateKeys(of: wanted)
    }
}
