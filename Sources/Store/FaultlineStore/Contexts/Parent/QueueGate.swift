import Synchronization

/// Identifies a queue that threads hold and wait for.
///
/// All contexts of the main queue share one.
enum QueueKey: Hashable {
    case main
    case context(ObjectIdentifier)
}

/// Admits one thread at a time to a context with a private queue.
///
/// The thread either runs the queue's work, or belongs to a child that needs the context's unsaved changes. A child's
/// thread does not wait in the queue itself. The thread on the queue may wait for the child, and then lends it the
/// context; see ``QueueLoans``.
///
/// - Complexity: One atomic operation to enter and one to leave, if no other thread is there.
final class QueueGate: Sendable {
    private enum State {
        static let free = 0
        static let taken = 1
        /// A thread waits for the gate, or has waited for it.
        static let awaited = 2
    }

    private let state = Atomic<Int>(State.free)

    /// Whether a thread waits for the gate, or has waited for it since it was last free.
    var isAwaited: Bool { state.load(ordering: .relaxed) == State.awaited }

    /// Enters if the gate is free.
    func enterIfFree() -> Bool {
        state.compareExchange(expected: State.free, desired: State.taken, ordering: .acquiring).exchanged
    }

    /// Enters if the gate is free; otherwise notes that a thread waits.
    ///
    /// Called under the lock of ``QueueLoans``.
    func enterOrAwait() -> Bool {
        state.exchange(State.awaited, ordering: .acquiring) == State.free
    }

    /// Leaves unless a thread waits.
    func leaveIfNotAwaited() -> Bool {
        state.compareExchange(expected: State.taken, desired: State.free, ordering: .releasing).exchanged
    }

    /// Leaves when no thread waits any more.
    ///
    /// Called under the lock of ``QueueLoans``.
    func leave() { state.store(State.free, ordering: .releasing) }
}
