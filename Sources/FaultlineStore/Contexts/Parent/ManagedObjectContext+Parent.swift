import FaultlineRecorder
import FaultlineTrace
import Synchronization

extension ManagedObjectContext {
    /// A context that sees the unsaved changes of another one, and saves to it instead of to the stores.
    ///
    ///     let form = ManagedObjectContext(parent: container.viewContext, concurrencyType: .mainQueue)
    ///
    /// Its fetches find what is unsaved in the parent, and its faults are filled with it. Its ``save(fileID:line:function:)``
    /// makes its changes the parent's unsaved changes and runs no statement; only the save of a context without a parent
    /// writes to the stores. A parent can be a child itself.
    ///
    /// A child that fetches, fires a fault or saves uses the parent on the parent's queue, and waits for it. A thread that
    /// waits for a child on the parent's queue lends the parent to the child, so the two do not wait for each other.
    ///
    /// - Parameters:
    ///   - parent: what the child reads from and saves to; the child holds it.
    ///   - concurrencyType: where the child's work is done; by default on a queue of its own.
    ///   - name: what the child is called in traces; by default "child of" and the parent's name.
    public convenience init(
        parent: ManagedObjectContext, concurrencyType: ConcurrencyType = .privateQueue, name: String? = nil
    ) {
        QueueLoans.shared.begin()
        self.init(
            parent.persistentStoreCoordinator, concurrencyType, name: name ?? "child of \(parent.name)", parent: parent)
    }

    // MARK: - The parent's queue

    /// The queue, as ``QueueLoans`` knows it.
    var queueKey: QueueKey { concurrencyType == .mainQueue ? .main : .context(ObjectIdentifier(self)) }

    /// The queues that this thread holds.
    static var heldQueues: Set<QueueKey> {
        var queues = HeldContexts.current?.queues ?? []
        if isOnMainQueue { queues.insert(.main) }
        return queues
    }

    /// Makes sure that no child uses the context while its queue's work is done.
    ///
    /// The main queue needs no gate: children that use its contexts wait in the queue.
    func enterGate() {
        guard concurrencyType == .privateQueue else { return }
        _ = QueueLoans.shared.enter(gate, queueKey, holding: Self.heldQueues, mayBorrow: false)
    }

    func leaveGate() {
        if concurrencyType == .privateQueue { QueueLoans.shared.leave(gate, queueKey) }
    }

    /// Does work with the state of the parent, while nobody else uses it.
    ///
    /// The work runs on this thread or, with a parent of the main queue, on the main thread.
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
        defer { wait.end() }
        // Who has come here is on the child's queue, also where it came without `perform`.
        func queues() -> Set<QueueKey> { Self.heldQueues.union([queueKey]) }
        guard parent.concurrencyType == .mainQueue else {
            let (admission, hasWaited) = QueueLoans.shared.enter(
                parent.gate, parent.queueKey, holding: queues(), mayBorrow: true)
            defer { if admission == .turn { QueueLoans.shared.leave(parent.gate, parent.queueKey) } }
            wait.isOver(hasWaited: hasWaited, admission)
            return try use(outer: outer, isOnMainQueue: Self.isOnMainQueue)
        }
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
        parent.noticeStores()
        parent.takePermanentKeys()
        takePermanentKeys()
        // A pinned parent's children read what it reads.
        pinned = parent.pinned
        return try work()
    }
}

/// The event of a child that waits for its parent's queue, and what the trace knows of the queue's owner meanwhile.
private final class ParentWait {
    private let parent: ManagedObjectContext
    private let origin: TraceOrigin
    private let event: TraceEvent.Wait?
    private let start: UInt64
    /// Whether others had the parent, or waited for it, before.
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

    /// To be called when the parent can be used.
    func isOver(hasWaited: Bool, _ admission: QueueLoans.Admission) {
        guard let event else { return }
        if hasWaited { parent.recorder.record(event, since: start, context: origin.context, site: origin.site) }
        // A lender stays the owner.
        isOwner = admission == .turn
        if isOwner { parent.queueOwner.set(origin) }
    }

    func end() {
        if isOwner { parent.queueOwner.clear() }
        parent.queued.subtract(1, ordering: .relaxed)
    }
}
