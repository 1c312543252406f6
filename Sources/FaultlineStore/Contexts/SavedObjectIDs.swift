import FaultlineRecorder
import FaultlineTrace
public import Foundation

/// What a save of a context changed, by identity: what one context can tell another of.
///
/// Objects stay in their context; this may go anywhere:
///
///     let token = NotificationCenter.default.addObserver(
///         forName: ManagedObjectContext.didSaveObjectsNotification, object: importContext, queue: nil
///     ) { notification in
///         guard let saved = SavedObjectIDs(notification) else { return }
///         Task { try await listContext.perform { listContext.mergeChanges(fromContextDidSave: saved) } }
///     }
public struct SavedObjectIDs: Sendable, Hashable {
    /// New objects, by the identities that the save gave them.
    public var inserted: Set<ManagedObjectID>
    /// Objects that were changed, those included whose relationships alone were.
    public var updated: Set<ManagedObjectID>
    public var deleted: Set<ManagedObjectID>
    /// The context that saved, in the trace's dictionary.
    var saver: DictionaryID = 0
    /// Whether any object may have changed, because a parent was reset.
    var isEverything = false

    public init(
        inserted: Set<ManagedObjectID> = [], updated: Set<ManagedObjectID> = [], deleted: Set<ManagedObjectID> = []
    ) {
        self.inserted = inserted
        self.updated = updated
        self.deleted = deleted
    }

    /// What a notification of a save tells: ``ManagedObjectContext/didSaveObjectsNotification`` or
    /// ``ManagedObjectContext/didSaveObjectIDsNotification``.
    ///
    /// `nil` if the notification is another one. Call this where the notification arrives, which is on the queue of the
    /// context that saved.
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

    /// The changes of a parent since its children were last told.
    init(_ changes: ChangeLog, of parent: ManagedObjectContext) {
        inserted = Set(changes.inserted.map(\.objectID))
        updated = Set(changes.updated.union(changes.refreshed).map(\.objectID))
        deleted = Set(changes.deleted.map(\.objectID))
        if parent.recorder.isEnabled { saver = parent.traceID }
        isEverything = changes.isReset
    }

    private typealias NotificationKey = ManagedObjectContext.NotificationKey

    /// Whether nothing was saved.
    public var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty }
}
