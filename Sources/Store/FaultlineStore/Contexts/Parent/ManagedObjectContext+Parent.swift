import FaultlineRecorder
import FaultlineTrace
import Synchronization

extension ManagedObjectContext {
    /// Makes a context that sees the unsaved changes of another one, and saves to it instead of to the stores.
    ///
    ///     let form = ManagedObjectContext(parent: container.viewContext, concurrencyType: .mainQueue)
    ///
    /// Its fetches find the parent's unsaved changes, and its faults are filled with the parent's values. Its
    /// ``save(fileID:line:function:)`` sets the changed properties in the parent and runs no statement. Only the save of a
    /// context without a parent writes to the stores. A parent can be a child itself.
    ///
    /// Each fetch, fault and save of a child uses the parent on the parent's queue, and waits for its turn there. A thread
    /// that waits for the child on the parent's queue lends the parent to the child, so they do not block each other.
    ///
    /// - Parameters:
    ///   - parent: The context that the child reads from and saves to. The child retains it.
    ///   - concurrencyType: The queue of the child; by default a private queue.
    ///   - name: The child's name in traces; by default "child of" and the parent's name.
    public convenience init(
        parent: ManagedObjectContext, concurrencyType: ConcurrencyType = .privateQueue, name: String? = nil
    ) {
        QueueLoans.shared.begin()
        self.init(
            parent.persistentStoreCoordinator, concurrencyType, name: name ?? "child of \(parent.name)", parent: parent)
    }

    // MARK: - The parent's queue

    /// Identifies the context's queue for ``QueueLoans``.
    var queueKey: QueueKey { concurrencyType == .mainQueue ? .main : .context(ObjectIdentifier(self)) }

    /// The queues that this thread holds.
    static var heldQueues: Set<QueueKey> {
        var queues = HeldContexts.current?.queues ?? []
        if isOnMainQueue { queues.insert(.main) }
        return queues
    }

    /// Keeps children from using the context until the current work of its queue is done.
    ///
    /// The main queue needs no gate, because children of its contexts wait in the queue.
    func enterGate() {
        guard concurrencyType == .privateQueue else { return }
        _ = QueueLoans.shared.enter(gate, queueKey, holding: Self.heldQueues, mayBorrow: false)
    }

    func leaveGate() {
        if concurrencyType == .privateQueue { QueueLoans.shared.leave(gate, queueKey) }
    }

    /// Runs a closure that uses the parent while no other thread does.
    ///
    /// The closure runs on this thread or, if the parent is on the main queue, on the main thread.
    func inParent<Result, Failure: Error>(
        _ parent: ManagedObjectContext, site: DictionaryID = 0, _ work: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        func use(outer: HeldContexts?, isOnMainQueue: Bool = false) throws(Failure) -> Result {
            let held = HeldContexts(parent, outer: outer, isOnMainQueue: isOnMainQueue)
            return try held.run { () throws(Failure) in try useHeld(parent, work) }
        }
        let outer = HeldContexts.current
        if outer?.contains(parent) == true { return try useHeld(parent, work) }
        guard parent.concurrencyType == .privateQueue || !Self.isOnMainQueue else { return try use(outer: outer) }
        let wait = ParentWait(of: self, for: parent, site: site)
        // The caller is on the child's queue, even if it did not use `perform`.
        func queues() -> Set<QueueKey> { Self.heldQueues.union([queueKey]) }
        guard parent.concurrencyType == .mainQueue else {
            let (admission, hasWaited) = QueueLoans.shared.enter(
                parent.gate, parent.queueKey, holding: queues(), mayBorrow: true)
            defer {
                wait.end()
                if admission == .turn { QueueLoans.shared.leave(parent.gate, parent.queueKey) }
            }
            wait.isOver(hasWaited: hasWaited, admission)
            return try use(outer: outer, isOnMainQueue: Self.isOnMainQueue)
        }
        defer { wait.end() }
        var result: Swift.Result<Result, Failure>?
        withoutActuallyEscaping(
            { (admission: QueueLoans.Admission) in
                wait.isOver(hasWaited: wait.isBehindOthers, admission)
                result = Swift.Result { () throws(Failure) in try use(outer: outer, isOnMainQueue: true) }
            },
            do: { work in QueueLoans.shared.onMainQueue(holding: queues(), work) })
        return try result!.get()
    }

    private func useHeld<Result, Failure: Error>(
        _ parent: ManagedObjectContext, _ work: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        parent.updateStoresIfChanged()
        parent.applyPermanentKeys()
        applyPermanentKeys()
        // The children of a pinned parent read the same snapshot.
        pinned = parent.pinned
        return try work()
    }
}

/// Records that a child waits for its parent's queue, and that it owns the queue afterward.
private final class ParentWait {
    private let parent: ManagedObjectContext
    private let origin: TraceOrigin
    private let event: TraceEvent.Wait?
    private let start: UInt64
    /// Whether other work was using the parent, or waiting for it.
    let isBehindOthers: Bool
    private var isOwner = false

    init(of child: ManagedObjectContext, for parent: ManagedObjectContext, site: DictionaryID) {
        self.parent = parent
        let isRecorded = child.recorder.isEnabled
        origin = isRecorded ? TraceOrigin(context: child.traceID, site: site) : TraceOrigin()
        event = isRecorded ? parent.queueOwner.wait(for: .contextQueue, isBlocking: true) : nil
        start = isRecorded ? child.recorder.now() : 0
        isBehindOthers = parent.queued.add(1, ordering: .relaxed).oldValue > 0
    }

    /// Ends the wait; to be called when the parent can be used.
    func isOver(hasWaited: Bool, _ admission: QueueLoans.Admission) {
        guard let event else { return }
        if hasWaited { parent.recorder.record(event, since: start, context: origin.context, site: origin.site) }
        // With a loan, the lender stays the owner.
        isOwner = admission == .turn
        if isOwner { parent.queueOwner.set(origin) }
    }

    /// To be called before the parent is left.
    func end() {
        if isOwner { parent.queueOwner.clear() }
        parent.queued.subtract(1, ordering: .relaxed)
    }
}
