import Synchronization

/// The live contexts of a coordinator, or the live children of a context.
final class LivingContexts: Sendable {
    private struct Entry {
        weak var context: ManagedObjectContext?
    }

    private struct State {
        var entries: [Entry] = []
        /// The number of entries at which those of deallocated contexts are removed.
        var most = 16
    }

    private let state = Mutex(State())

    /// - Complexity: O(1) on average.
    func add(_ context: ManagedObjectContext) {
        state.withLock { state in
            if state.entries.count >= state.most {
                state.entries.removeAll { $0.context == nil }
                state.most = max(16, state.entries.count * 2)
            }
            state.entries.append(Entry(context: context))
        }
    }

    var all: [ManagedObjectContext] { state.withLock { $0.entries.compactMap(\.context) } }
}
