import Synchronization

/// The contexts that merge automatically: a coordinator's contexts merge each other's saves, and a context's children
/// merge its changes.
final class MergingContexts: Sendable {
    private struct Entry {
        weak var context: ManagedObjectContext?
    }

    private let entries = Mutex<[ObjectIdentifier: Entry]>([:])
    private let count = Atomic<Int>(0)

    /// Whether no context merges automatically.
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

    /// Passes a save to all contexts except the one that saved.
    func tell(_ saved: SavedObjectIDs, from saver: ManagedObjectContext?) {
        // Outside the lock, because releasing a context here can deallocate it, and its observers may call `set`.
        let contexts = entries.withLock { $0.values.compactMap(\.context) }
        for context in contexts where context !== saver { context.receive(saved) }
    }
}
