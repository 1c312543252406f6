import Synchronization

/// The contexts that merge automatically: those of a coordinator merge what the others save, the children of a context merge
/// its changes.
final class MergingContexts: Sendable {
    private struct Entry {
        weak var context: ManagedObjectContext?
    }

    private let entries = Mutex<[ObjectIdentifier: Entry]>([:])
    private let count = Atomic<Int>(0)

    /// Whether there is nobody to tell.
    ///
    /// - Complexity: one relaxed load.
    var isEmpty: Bool { count.load(ordering: .relaxed) == 0 }

    func contains(_ context: ManagedObjectContext) -> Bool {
        entries.withLock { $0[ObjectIdentifier(context)]?.context === context }
    }

    func set(_ context: ManagedObjectContext, isMerging: Bool) {
        entries.withLock { entries in
            entries = entries.filter { $0.value.context != nil }
            entries[ObjectIdentifier(context)] = isMerging ? Entry(context: context) : nil
            count.store(entries.count, ordering: .relaxed)
        }
    }

    /// Tells all but the one that saved.
    func tell(_ saved: SavedObjectIDs, from saver: ManagedObjectContext?) {
        // Outside the lock: a context may go away here, and its observers may set others.
        let contexts = entries.withLock { $0.values.compactMap(\.context) }
        for context in contexts where context !== saver { context.receive(saved) }
    }
}
