internal import CStore
public import Foundation

/// The notifications that a context posts to `NotificationCenter.default`.
///
/// Names and contents are Core Data's. Each notification is posted on the context's queue, with the context as its
/// object. It costs nothing until the program has asked for its name here.
extension ManagedObjectContext {
    /// The context's objects have changed since the last notification of this kind.
    ///
    /// Posted at the end of a `perform`, by ``processPendingChanges()``, before a save and after a merge, not for each
    /// change. Carries objects under ``NotificationKey/insertedObjects``, ``NotificationKey/updatedObjects``,
    /// ``NotificationKey/deletedObjects`` and ``NotificationKey/refreshedObjects``, or, after a reset,
    /// ``NotificationKey/invalidatedAllObjects``; a key without objects is left out.
    public static var didChangeObjectsNotification: Notification.Name { ContextNotification.didChange.wantedName }

    /// The context is about to save.
    ///
    /// Changes that an observer makes in the context are saved as well. The notification carries nothing.
    public static var willSaveObjectsNotification: Notification.Name { ContextNotification.willSave.wantedName }

    /// The context has saved.
    ///
    /// Carries sets of objects under ``NotificationKey/insertedObjects``, ``NotificationKey/updatedObjects`` and
    /// ``NotificationKey/deletedObjects``, which must stay on the context's queue; ``SavedObjectIDs/init(_:)`` extracts
    /// IDs that can be passed to another context.
    public static var didSaveObjectsNotification: Notification.Name { ContextNotification.didSave.wantedName }

    /// The context has saved.
    ///
    /// Carries the contents of ``didSaveObjectsNotification`` as IDs, under
    /// ``NotificationKey/insertedObjectIDs``, ``NotificationKey/updatedObjectIDs`` and
    /// ``NotificationKey/deletedObjectIDs``.
    public static var didSaveObjectIDsNotification: Notification.Name { ContextNotification.didSaveIDs.wantedName }

    /// The context has merged another context's save.
    ///
    /// Carries IDs, like ``didSaveObjectIDsNotification``.
    public static var didMergeChangesObjectIDsNotification: Notification.Name {
        ContextNotification.didMergeIDs.wantedName
    }

    /// The keys of a notification's contents; the raw values are the keys of its `userInfo`.
    public enum NotificationKey: String, Sendable, CaseIterable {
        /// A `Set<ManagedObject>`.
        case insertedObjects = "inserted"
        /// A `Set<ManagedObject>`.
        case updatedObjects = "updated"
        /// A `Set<ManagedObject>`.
        case deletedObjects = "deleted"
        /// A `Set<ManagedObject>`: objects that show the store's values, or will when they are read.
        case refreshedObjects = "refreshed"
        /// `true`: the context was reset, and its objects must not be used any more.
        case invalidatedAllObjects = "invalidatedAll"
        /// A `Set<ManagedObjectID>`.
        case insertedObjectIDs = "inserted_objectIDs"
        /// A `Set<ManagedObjectID>`.
        case updatedObjectIDs = "updated_objectIDs"
        /// A `Set<ManagedObjectID>`.
        case deletedObjectIDs = "deleted_objectIDs"
    }

    /// The saves of this context from now on, in order.
    ///
    /// Every save is delivered, on whichever thread the sequence is read:
    ///
    ///     Task { for await saved in context.savedObjectIDs { search.index(saved.inserted) } }
    ///
    /// Saves are kept until they are read. The sequence ends when its reader is cancelled.
    public var savedObjectIDs: AsyncStream<SavedObjectIDs> {
        AsyncStream { continuation in
            let observer = NotificationCenter.default.addObserver(
                forName: Self.didSaveObjectIDsNotification, object: self, queue: nil
            ) { notification in
                if let saved = SavedObjectIDs(notification) { continuation.yield(saved) }
            }
            let token = ObserverToken(observer)
            continuation.onTermination = { _ in token.end() }
        }
    }

    /// An observer of the notification center, whose functions may be called from any thread.
    private struct ObserverToken: @unchecked Sendable {
        // Only handed back to the notification center, which has a lock.
        private let observer: any NSObjectProtocol

        init(_ observer: any NSObjectProtocol) {
            self.observer = observer
        }

        func end() { NotificationCenter.default.removeObserver(observer) }
    }

    // MARK: - Posting

    func post(_ notification: ContextNotification, _ contents: [(NotificationKey, any Sendable & Hashable)]) {
        let values = contents.map { (AnyHashable($0.0.rawValue), $0.1 as Any) }
        NotificationCenter.default.post(
            name: notification.name, object: self, userInfo: Dictionary(uniqueKeysWithValues: values))
    }

    func post(_ notification: ContextNotification, _ sets: [(NotificationKey, Set<ManagedObject>)]) {
        let values = sets.filter { !$0.1.isEmpty }.map { (AnyHashable($0.0.rawValue), $0.1 as Any) }
        NotificationCenter.default.post(
            name: notification.name, object: self, userInfo: Dictionary(uniqueKeysWithValues: values))
    }

    func post(_ notification: ContextNotification, _ ids: SavedObjectIDs) {
        post(
            notification,
            [
                (.insertedObjectIDs, ids.inserted), (.updatedObjectIDs, ids.updated),
                (.deletedObjectIDs, ids.deleted),
            ])
    }
}

/// A notification of contexts, and whether the program has asked for its name.
///
/// An observer needs the name, so a notification whose name was never requested is not posted. A save of many objects
/// then costs nothing extra.
final class ContextNotification: @unchecked Sendable {
    // The only mutable state is a flag that is read and written as a whole. An `Atomic`, or a name that Foundation
    // creates, would keep the compiler from initializing the notifications statically.
    private let text: String
    @exclusivity(unchecked)
    private var wasAskedFor: UInt32 = 0

    private init(_ text: String) {
        self.text = text
    }

    var name: Notification.Name { Notification.Name(text) }

    /// Whether the program may be observing the notification.
    ///
    /// - Complexity: One load.
    @inline(__always)
    var isWanted: Bool { cstore_load(&wasAskedFor) != 0 }

    /// The name, for code that may observe the notification from now on.
    var wantedName: Notification.Name {
        cstore_store(&wasAskedFor, 1)
        return name
    }

    static let didChange = ContextNotification("ManagedObjectContextObjectsDidChange")
    static let willSave = ContextNotification("ManagedObjectContextWillSave")
    static let didSave = ContextNotification("ManagedObjectContextDidSave")
    static let didSaveIDs = ContextNotification("ManagedObjectContextDidSaveObjectIDs")
    static let didMergeIDs = ContextNotification("ManagedObjectContextDidMergeChangesObjectIDs")

    static let saves = [didSave.name, didSaveIDs.name]
}
