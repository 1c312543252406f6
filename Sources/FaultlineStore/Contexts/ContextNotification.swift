import CStore
import Foundation

/// The notifications of contexts, and whether the program has asked for the name of each.
///
/// Who observes a notification has its name, so one whose name nobody has asked for is not made: a save of many
/// objects costs nothing more where nobody listens.
final class ContextNotification: @unchecked Sendable {
    // What changes is a flag that is read and written as a whole. An `Atomic`, or a name that Foundation makes, would be an
    // obstacle to the compiler, which lays the notifications out before the program runs.
    private let text: String
    @exclusivity(unchecked)
    private var wasAskedFor: UInt32 = 0

    private init(_ text: String) {
        self.text = text
    }

    var name: Notification.Name { Notification.Name(text) }

    /// Whether somebody may be listening.
    ///
    /// - Complexity: one load.
    @inline(__always)
    var isWanted: Bool { cstore_load(&wasAskedFor) != 0 }

    /// The name, for somebody who may listen from now on.
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
