import Dispatch
import FaultlineModel
import FaultlineRecorder
import FaultlineTrace
public import Foundation
import Synchronization

/// A workspace for objects: it fetches them, keeps one object per row, and saves their changes.
///
/// A context is used on its queue: inside ``perform(schedule:fileID:line:function:_:)`` or
/// ``performAndWait(fileID:line:function:_:)``, or, with
/// ``ConcurrencyType/mainQueue``, on the main thread. Its objects and results are not sendable, so they cannot leave
/// it; ``ManagedObjectID`` can.
///
/// A context with unsaved changes stays alive until they are saved, rolled back or reset; see ``ToMany`` for objects
/// that retain each other.
public final class ManagedObjectContext: @unchecked Sendable {
    // The queue guards every variable. Only `identities`, which has its own lock, is also used elsewhere: when an
    // object is released on another thread.

    /// The queue on which a context works.
    public enum ConcurrencyType: String, Sendable {
        /// The main queue.
        case mainQueue
        /// A private queue of the context.
        case privateQueue
    }

    /// The queue on which the context works.
    public let concurrencyType: ConcurrencyType
    /// The coordinator of the stores that the context uses.
    ///
    /// A child has the coordinator of its ``parent``.
    public let persistentStoreCoordinator: PersistentStoreCoordinator
    /// The context that this one saves to; `nil` if it saves to the stores.
    ///
    /// ``init(parent:concurrencyType:name:)`` sets it. A child retains its parent.
    public let parent: ManagedObjectContext?
    /// The name of the context in traces and, if the program has set it, in the persistent history.
    ///
    /// Default: a name with a number. Set it before other threads use the context.
    public var name: String {
        didSet {
            isNamed = true
            knownTraceID.store(0, ordering: .relaxed)
        }
    }
    /// Whether the program has named the context.
    private(set) var isNamed = false
    /// The author of the context's saves and batch requests in the persistent history, such as the part of the program
    /// that made them.
    ///
    /// Default: `nil`. Set it on the context's queue.
    public var transactionAuthor: String?

    let recorder: Recorder
    let log: SQLDebugLog
    // Variables marked `@exclusivity(unchecked)` are only loaded and stored, and no access to them runs code outside
    // the context.
    /// The coordinator's stores, as of `storesGeneration`.
    @exclusivity(unchecked)
    var stores: [SQLStore]
    /// The generation of the coordinator's stores that the context has seen.
    @exclusivity(unchecked)
    var storesGeneration: Int
    /// Removed stores, because objects of theirs may still be retained.
    var formerStores: [SQLStore] = []
    /// The snapshot that the context is pinned to.
    @exclusivity(unchecked)
    var pinned: PinnedSnapshot?
    let identities: IdentityMap
    let queue: DispatchQueue

    @exclusivity(unchecked)
    var inserted: ContiguousArray<ManagedObject> = []
    @exclusivity(unchecked)
    var updated: ContiguousArray<ManagedObject> = []
    @exclusivity(unchecked)
    var deleted: ContiguousArray<ManagedObject> = []
    /// The number of nested deletions in progress; faults that fire during one are recorded as part of it.
    var deletionDepth = 0
    /// Chooses the row-cache hits that are timed.
    var timedHits = Sampling(every: CacheHit.sampling, after: 0)
    /// Chooses the pieces of other work, which only recording needs, that are timed.
    var timedWork = Sampling(every: Recorder.costSampling, after: Recorder.costSampling / 2)
    /// The undo manager that records the context's changes.
    ///
    /// Default: `nil`, and nothing is recorded. Recorded changes keep their objects and the context alive until the
    /// manager, ``rollback()`` or ``reset()`` discards them. A save discards none. Undoing a saved insertion is an
    /// unsaved deletion, and undoing a saved deletion is an unsaved insertion. Ordered and many-to-many relationships
    /// are read before they are changed, because undoing restores the old members. Set it on the context's queue.
    @exclusivity(unchecked)
    public var undoManager: UndoManager? { didSet { hasUndoManager = undoManager != nil } }
    /// Whether there is an undo manager.
    ///
    /// Code that sets values checks this flag, because reading the manager itself would retain it.
    @exclusivity(unchecked)
    private(set) var hasUndoManager = false
    /// The events of the objects in the undo group that is being undone or redone.
    var undone: [ManagedObject: SnapshotEventType] = [:]
    /// The number of saves that wrote changes.
    var saveCount = 0
    /// The objects that were changed since the last round of ``ManagedObject/willSave()`` began; `nil` outside these
    /// rounds.
    @exclusivity(unchecked)
    var changedInWillSave: ContiguousArray<ManagedObject>?
    /// Whether ``ManagedObject/willSave()`` is being called.
    ///
    /// A separate flag for the same reason as ``hasUndoManager``.
    @exclusivity(unchecked)
    var isCallingWillSave = false
    /// Whether the undo manager, a save or an observer needs each change before it is saved.
    @inline(__always)
    var areChangesAwaited: Bool { hasUndoManager || isCallingWillSave || areChangesLogged }
    /// The way a save resolves conflicts with changes that others have saved.
    ///
    /// Default: ``MergePolicy/error``. Use it on the context's queue.
    public var mergePolicy = MergePolicy.error
    /// The maximum age in seconds of a row in memory that fills a fault.
    ///
    /// Default: negative, which allows any age. With 0, every fault that fires goes to the store, and sees what other
    /// processes wrote. An object that is not a fault stays unchanged until it is refreshed. Ages are exact to a few
    /// milliseconds.
    @exclusivity(unchecked)
    public var stalenessInterval: TimeInterval = -1
    /// Whether the context retains its objects, changed or not.
    ///
    /// Default: `false`. The context releases them when it is reset or this is unset. The objects retain the context in
    /// turn.
    @exclusivity(unchecked)
    public var retainsRegisteredObjects = false {
        didSet { retained = retainsRegisteredObjects ? Set(identities.objects()) : [] }
    }
    private(set) var retained: Set<ManagedObject> = []
    /// The first error of a read that could not throw, until a fetch or a save throws it.
    var readError: StoreError?
    /// The to-many relationships whose members are retained.
    var shownRelationships = ShownRelationships()
    /// The changes since observers were last notified.
    var changeLog = ChangeLog()
    /// Saves of other contexts that this one has not merged yet.
    let receivedSaves = Mutex<[SavedObjectIDs]>([])
    /// Permanent keys by the temporary keys that they replaced, in children and their parents.
    ///
    /// Kept until the context is reset, because the program may hold temporary IDs.
    var permanentKeys: [ObjectKey: Int64] = [:]
    /// Permanent keys that an ancestor assigned and this context has not applied yet.
    let receivedKeys = Mutex<[PermanentKey]>([])
    /// The children of this context, and those that merge its changes automatically.
    let children = LivingContexts()
    let followers = MergingContexts()
    /// The class and entity of the most recently created object.
    @exclusivity(unchecked)
    var lastCreated: LastCreated?

    /// A class and its entity.
    ///
    /// The entity is not retained for each object, because the context retains its store for longer than it keeps this
    /// value.
    struct LastCreated {
        let type: ManagedObject.Type
        unowned(unsafe) let entity: EntityRuntime
    }

    private let knownTraceID = Atomic<DictionaryID>(0)
    /// Whether use off the queue ends the program.
    let isQueueChecked = ConcurrencyDebug.isOn
    /// The number of requests for the queue that have not finished.
    let queued = Atomic<Int>(0)
    let queueOwner = LockOwner()
    let gate = QueueGate()

    init(
        _ coordinator: PersistentStoreCoordinator, _ type: ConcurrencyType, name: String,
        parent: ManagedObjectContext? = nil
    ) {
        persistentStoreCoordinator = coordinator
        self.parent = parent
        recorder = coordinator.recorder
        log = coordinator.log
        concurrencyType = type
        self.name = name
        let state = coordinator.state
        (stores, storesGeneration) = (state.stores, state.generation)
        identities = IdentityMap(maps: state.count * coordinator.managedObjectModel.entities.count)
        queue = type == .mainQueue ? .main : DispatchQueue(label: "Faultline.\(name)")
        coordinator.livingContexts.add(self)
        parent?.children.add(self)
    }

    /// The context's number in the trace's dictionary.
    var traceID: DictionaryID {
        let known = knownTraceID.load(ordering: .relaxed)
        if known != 0 { return known }
        let id = recorder.intern(.context(ContextEntry(name: name, concurrency: concurrencyType.rawValue)))
        knownTraceID.store(id, ordering: .relaxed)
        return id
    }

    /// This context and a call site, for the trace.
    ///
    /// Called only while recording, because it enters both into the trace's dictionary.
    func origin(at site: CallerSite) -> TraceOrigin {
        TraceOrigin(
            context: traceID, site: recorder.site(fileID: site.fileID, line: site.line, function: site.function))
    }

    // MARK: - The queue

    /// The time at which requested work runs.
    public enum ScheduledTaskType: Sendable {
        /// Immediately, if the context is on the main queue and so is the caller. Otherwise like ``enqueued``.
        case immediate
        /// After the work that was requested earlier.
        case enqueued
    }

    /// Runs a closure on the context's queue, and waits for it without blocking a thread.
    ///
    /// The main queue runs in a program whose `main` is asynchronous or calls `dispatchMain()`. In other programs, use
    /// a main-queue context on the main thread itself, or with ``performAndWait(fileID:line:function:_:)`` there.
    ///
    /// - Parameters:
    ///   - schedule: The time when the closure runs; by default immediately if possible.
    ///   - work: The closure.
    /// - Throws: The error that the closure throws.
    public func perform<Result: Sendable, Failure: Error>(
        schedule: ScheduledTaskType = .immediate, fileID: StaticString = #fileID, line: UInt = #line,
        function: StaticString = #function, _ work: @escaping @Sendable () throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        if schedule == .immediate, let result = runIfOnMainThread(work) { return try result.get() }
        let scope = RecordedScope.inherited
        let request = request(fileID, line, function, isBlocking: false)
        let result = await withCheckedContinuation { continuation in
            queue.async {
                let result = self.run(request, outer: nil) {
                    RecordedScope.with(scope, of: self.recorder) { Swift.Result(catching: work) }
                }
                continuation.resume(returning: result)
            }
        }
        return try result.get()
    }

    /// Runs a closure immediately if the context is on the main queue and so is the caller; otherwise returns `nil`.
    private func runIfOnMainThread<Result, Failure: Error>(
        _ work: () throws(Failure) -> Result
    ) -> Swift.Result<Result, Failure>? {
        guard concurrencyType == .mainQueue, Self.isOnMainQueue else { return nil }
        return runOnQueue(outer: .current) { Swift.Result(catching: work) }
    }

    /// Runs a closure on the context's queue, and blocks until it is done.
    ///
    /// Calls can be nested, also across contexts. A waiting thread keeps the queues of its outer calls. Only a child
    /// that it waits for can use a parent among them.
    public func performAndWait<Result: Sendable>(
        fileID: StaticString = #fileID, line: UInt = #line, function: StaticString = #function,
        _ work: () throws -> Result
    ) rethrows -> Result {
        let outer = HeldContexts.current
        if outer?.contains(self) == true { return try work() }
        // The main thread runs the main queue, so it would wait for itself forever.
        if concurrencyType == .mainQueue, Self.isOnMainQueue { return try runOnQueue(outer: outer, work) }
        let scope = RecordedScope.inherited
        let request = request(fileID, line, function, isBlocking: concurrencyType == .privateQueue)
        let isOnMainQueue = Self.isOnMainQueue
        let loan = QueueLoans.shared.lend(Self.heldQueues, whileWaitingFor: queueKey)
        func wait() throws -> Result {
            try queue.sync {
                QueueLoans.shared.end(loan)
                return try run(request, outer: outer, isOnMainQueue: isOnMainQueue) {
                    try RecordedScope.with(scope, of: recorder, work)
                }
            }
        }
        return try request.asked == 0 ? wait() : Recorder.anchoringStacks(wait)
    }

    /// Work that waits for the context's queue.
    private struct Request {
        var origin = TraceOrigin()
        /// The time of the request; 0 if nothing is recorded.
        var asked: UInt64 = 0
        /// The wait for the queue's owner; `nil` if no work is ahead.
        var wait: TraceEvent.Wait?
    }

    private func request(
        _ fileID: StaticString, _ line: UInt, _ function: StaticString, isBlocking: Bool
    ) -> Request {
        guard recorder.isEnabled else {
            queued.add(1, ordering: .relaxed)
            return Request()
        }
        // This comes first, because the owner may change once others see that this thread waits.
        let wait = queueOwner.wait(for: .contextQueue, isBlocking: isBlocking)
        let ahead = queued.add(1, ordering: .relaxed).oldValue
        return Request(
            origin: origin(at: (fileID, line, function)), asked: recorder.now(), wait: ahead > 0 ? wait : nil)
    }

    private func run<Result>(
        _ request: Request, outer: HeldContexts?, isOnMainQueue: Bool = false, _ work: () throws -> Result
    ) rethrows -> Result {
        enterGate()
        defer { leaveGate() }
        if let wait = request.wait {
            recorder.record(
                wait, since: request.asked, context: request.origin.context, site: request.origin.site)
        }
        if request.asked != 0 { queueOwner.set(request.origin) }
        defer {
            if request.asked != 0 { queueOwner.clear() }
            queued.subtract(1, ordering: .relaxed)
        }
        return try runOnQueue(outer: outer, isOnMainQueue: isOnMainQueue, work)
    }

    /// Runs a closure on the context's queue: merges received saves first, and notifies observers of changes
    /// afterward.
    ///
    /// - Parameter isOnMainQueue: Whether work on the main queue waits for the closure.
    func runOnQueue<Result>(
        outer: HeldContexts?, isOnMainQueue: Bool = false, _ work: () throws -> Result
    ) rethrows -> Result {
        defer { for store in stores { store.pool.finishBursts() } }
        return try HeldContexts(self, outer: outer, isOnMainQueue: isOnMainQueue).run {
            updateStoresIfChanged()
            mergeReceived()
            defer {
                undoManager?.endEvent()
                postChanges()
                releaseMembers()
            }
            return try work()
        }
    }

    private static let mainQueueMark = {
        let mark = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: mark, value: true)
        return mark
    }()

    /// Whether this thread runs the main queue's work.
    ///
    /// Other threads do when the main thread has no loop of its own, as in a program whose `main` is `async`.
    static var isOnMainQueue: Bool {
        Thread.isMainThread || HeldContexts.current?.isOnMainQueue == true
            || DispatchQueue.getSpecific(key: mainQueueMark) == true
    }

    /// Whether this thread runs the context's work.
    var isOnQueue: Bool {
        concurrencyType == .mainQueue && Self.isOnMainQueue || HeldContexts.current?.contains(self) == true
    }

    // MARK: - Changes

    /// The new, unsaved objects, in the order of their creation.
    public var insertedObjects: [ManagedObject] { inserted.keeping(\.isInserted) }

    /// Objects of the store that have unsaved changes and are not deleted.
    public var updatedObjects: [ManagedObject] { updated.filter { $0.isUpdated && !$0.isDeleted } }

    /// Objects that the next save deletes.
    public var deletedObjects: [ManagedObject] { deleted.filter { $0.isDeleted && !$0.flags.contains(.isInserted) } }

    /// Whether there are unsaved changes.
    public var hasChanges: Bool {
        checkQueue()
        return inserted.contains { $0.isInserted } || updated.contains { $0.isUpdated } || !deletedObjects.isEmpty
    }

    /// Retains a newly registered object if ``retainsRegisteredObjects`` is set.
    @inline(__always)
    func retain(_ object: ManagedObject) {
        if retainsRegisteredObjects { retained.insert(object) }
    }

    /// Releases an object that the context discards.
    func release(_ object: ManagedObject) {
        if retainsRegisteredObjects { retained.remove(object) }
    }

    /// The live objects of this context, changed or not.
    public var registeredObjects: [ManagedObject] {
        checkQueue()
        return identities.objects()
    }

    /// Records the error of a read that cannot throw, unless an earlier one is still to be thrown.
    func observeReadError(_ error: StoreError) {
        readError = readError ?? error
    }

    /// Throws the recorded error of a read that could not throw.
    package func throwReadError() throws(StoreError) {
        guard let error = readError else { return }
        readError = nil
        throw error
    }
}

@available(*, unavailable)
extension ManagedObject.Seed: Sendable {}
