import CStore

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
