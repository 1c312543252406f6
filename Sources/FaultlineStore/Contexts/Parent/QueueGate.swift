import Synchronization

/// A queue, as threads hold it and wait for it: the contexts of the main queue share one.
enum QueueKey: Hashable {
    case main
    case context(ObjectIdentifier)
}

/// Admits one thread at a time to a context with a private queue: the one that does the queue's work, or a child's that
/// needs the context's unsaved changes.
///
/// A child does not wait in the queue itself: whoever is on the queue may wait for the child, and then lends the context
/// to it; see ``QueueLoans``.
///
/// - Complexity: an atomic operation to enter and one to leave, as long as nobody else is there.
final class QueueGate: Sendable {
    private enum State {
        static let free = 0
        static let taken = 1
        /// Somebody waits, or has waited, for it.
        static let awaited = 2
    }

    private let state = Atomic<Int>(State.free)

    /// Enters if nobody is there.
    func enterIfFree() -> Bool {
        state.compareExchange(expected: State.free, desired: State.taken, ordering: .acquiring).exchanged
    }

    /// Enters if nobody is there; otherwise whoever is there learns that somebody waits.
    ///
    /// Called under the lock of ``QueueLoans``.
    func enterOrAwait() -> Bool {
        state.exchange(State.awaited, ordering: .acquiring) == State.free
    }

    /// Leaves unless somebody waits.
    func leaveIfNotAwaited() -> Bool {
        state.compareExchange(expected: State.taken, desired: State.free, ordering: .releasing).exchanged
    }

    /// Leaves although somebody has waited.
    ///
    /// Called under the lock of ``QueueLoans``.
    func leave() { state.store(State.free, ordering: .releasing) }
}
