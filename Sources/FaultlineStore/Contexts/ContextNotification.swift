import Foundation
import Synchronization

/// The notifications of contexts, and whether the program has asked for the name of each.
///
/// Who observes a notification has its name, so one whose name nobody has asked for is not made: a save of many
/// objects costs nothing more where nobody listens.
final class ContextNotification: Sendable {
    let name: Notification.Name
    private let wasAskedFor = Atomic<Bool>(false)

    private init(_ name: String) {
        self.name = Notification.Name(name)
    }

    /// Whether somebody may be listening.
    ///
    /// - Complexity: one relaxed load.
    @inline(__always)
    var isWanted: Bool { wasAskedFor.load(ordering: .relaxed) }

    /// The name, for somebody who may listen from now on.
    var wantedName: Notification.Name {
        wasAskedFor.store(true, ordering: .relaxed)
        return name
    }

    static let didChange = ContextNotification("ManagedObjectContextObjectsDidChange")
    static let willSave = ContextNotification("ManagedObjectContextWillSave")
    static let didSave = ContextNotification("ManagedObjectContextDidSave")
    static let didSaveIDs = ContextNotification("ManagedObjectContextDidSaveObjectIDs")
    static let didMergeIDs = ContextNotification("ManagedObjectContextDidMergeChangesObjectIDs")

    static let saves = [didSave.name, didSaveIDs.name]
}
