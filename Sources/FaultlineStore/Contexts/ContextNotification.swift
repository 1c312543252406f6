import CStore
import Foundation

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
    /// - Complexity: one load.
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
