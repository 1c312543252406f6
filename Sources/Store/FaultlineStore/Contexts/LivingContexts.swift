import CStore
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
    /// - Complexity: One relaxed load.
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

/// The contexts whose queues this thread occupies: the one whose work it runs, and those whose work waits for it.
final class HeldContexts {
    private let context: ManagedObjectContext
    private let outer: HeldContexts?
    /// Whether work on the main queue waits for this thread, which can therefore use main-queue contexts.
    let isOnMainQueue: Bool

    init(_ context: ManagedObjectContext, outer: HeldContexts?, isOnMainQueue: Bool = false) {
        self.context = context
        self.outer = outer
        self.isOnMainQueue = isOnMainQueue || outer?.isOnMainQueue == true
    }

    /// The contexts of the current thread.
    static var current: HeldContexts? {
        cstore_thread_value().map { Unmanaged<HeldContexts>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Runs a closure that occupies these contexts, on whichever thread the queue has chosen.
    func run<Result, Failure: Error>(_ work: () throws(Failure) -> Result) throws(Failure) -> Result {
        let before = cstore_thread_value()
        cstore_set_thread_value(Unmanaged.passUnretained(self).toOpaque())
        defer { cstore_set_thread_value(before) }
        return try withExtendedLifetime(self) { () throws(Failure) in try work() }
    }

    func contains(_ wanted: ManagedObjectContext) -> Bool {
        var next: HeldContexts? = self
        while let held = next {
            if held.context === wanted { return true }
            next = held.outer
        }
        return false
    }

    /// The queues of these contexts.
    var queues: Set<QueueKey> {
        var queues: Set<QueueKey> = isOnMainQueue ? [.main] : []
        var next: HeldContexts? = self
        while let held = next {
            queues.insert(held.context.queueKey)
            next = held.outer
        }
        return queues
    }
}
