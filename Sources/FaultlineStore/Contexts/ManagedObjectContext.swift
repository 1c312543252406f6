import Dispatch
import FaultlineModel
import FaultlineRecorder
import FaultlineTrace
public import Foundation
import Synchronization

/// A place to work with objects: it fetches them, keeps one object for each row, and saves what was changed.
///
/// A context is used on its queue: inside ``perform(_:)`` or ``performAndWait(_:)``, or, with
/// ``ConcurrencyType/mainQueue``, on the main thread. Its objects and results are not sendable, so they cannot leave
/// it; ``ManagedObjectID`` can.
///
/// A context with unsaved changes stays alive until they are saved, rolled back or reset; see ``ToMany`` for objects that
/// keep each other.
public final class ManagedObjectContext: @unchecked Sendable {
    // The queue guards everything that is not constant; only `identities`, which has a lock of its own, is reached
    // from elsewhere, when an object is released on another thread.

    /// Where a context's work is done.
    public enum ConcurrencyType: String, Sendable {
        /// On the main queue.
        case mainQueue
        /// On a queue of the context's own.
        case privateQueue
    }

    public let concurrencyType: ConcurrencyType
    /// The coordinator whose stores the context works with.
    ///
    /// A child has the coordinator of its ``parent``.
    public let persistentStoreCoordinator: PersistentStoreCoordinator
    /// The context that this one saves to; `nil`: it saves to the stores.
    ///
    /// ``init(parent:concurrencyType:name:)`` sets it. A child retains its parent.
    public let parent: ManagedObjectContext?
    /// What the context is called in traces.
    public let name: String

    let recorder: Recorder
    let log: SQLDebugLog
    // What is marked so below is loaded or stored, and no access to it runs code that is not the context's.
    /// The coordinator's stores, as far as the context knows.
    @exclusivity(unchecked)
    var stores: [SQLStore]
    /// When that was.
    @exclusivity(unchecked)
    var storesGeneration: Int
    /// Stores that were removed: objects of theirs may still be held.
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
    /// How many objects' delete rules are being followed, one's within another's.
    var deletionDepth = 0
    /// Takes the context's changes back, once it has one.
    ///
    /// Default: none, and nothing is remembered. What can be undone keeps the objects and the context alive, until it is
    /// forgotten: by the manager, by ``rollback()`` or by ``reset()``. Saving forgets nothing: undone afterwards, an
    /// insertion is a deletion to be saved, and a deletion is an insertion. Ordered and many-to-many relationships are read
    /// before they are changed, so that what was there can be had back. Set on the context's queue.
    @exclusivity(unchecked)
    public var undoManager: UndoManager? { didSet { hasUndoManager = undoManager != nil } }
    /// Whether there is one, for whoever sets the values of an import: looking at the manager itself would retain it.
    @exclusivity(unchecked)
    private(set) var hasUndoManager = false
    /// What the group that is being undone or redone has done to objects.
    var undone: [ManagedObject: SnapshotEventType] = [:]
    /// How often changes were saved.
    var saveCount = 0
    /// The objects that were changed since ``ManagedObject/willSave()`` was called last; `nil`: it is not being called.
    @exclusivity(unchecked)
    var changedInWillSave: ContiguousArray<ManagedObject>?
    /// Whether it is being called; apart from the objects for the same reason as ``hasUndoManager``.
    @exclusivity(unchecked)
    var isCallingWillSave = false
    /// Whether somebody wants to know of each change before it is saved.
    @inline(__always)
    var areChangesAwaited: Bool { hasUndoManager || isCallingWillSave || areChangesLogged }
    /// What a save does where it meets what somebody else has saved.
    ///
    /// Default: ``MergePolicy/error``. Used on the context's queue.
    public var mergePolicy = MergePolicy.error
    /// How old a row in memory may be, in seconds, for a fault that fires to be filled from it.
    ///
    /// Default: negative, any age. 0: every fault that fires goes to the store. What other processes wrote is seen that
    /// way; what is not a fault stays as it is until it is refreshed. A row's age is told to a few milliseconds.
    @exclusivity(unchecked)
    public var stalenessInterval: TimeInterval = -1
    /// Whether the context keeps its objects alive, whether they were changed or not, until it is reset or this is unset.
    ///
    /// Default: no. The objects keep the context alive in their turn.
    @exclusivity(unchecked)
    public var retainsRegisteredObjects = false {
        didSet { retained = retainsRegisteredObjects ? Set(identities.objects()) : [] }
    }
    private(set) var retained: Set<ManagedObject> = []
    /// What could not be read since the last fetch or save.
    var readError: StoreError?
    /// The to-many relationships whose members are held.
    var shownRelationships = ShownRelationships()
    /// What changed since observers were told last.
    var changeLog = ChangeLog()
    /// What other contexts have saved and this one is to take in.
    let receivedSaves = Mutex<[SavedObjectIDs]>([])
    /// Permanent keys by the temporary ones that they replaced, in children and their parents.
    ///
    /// Kept until the context is reset, because the program may hold temporary identities.
    var permanentKeys: [ObjectKey: Int64] = [:]
    /// Permanent keys that an ancestor assigned and this context has not applied yet.
    let receivedKeys = Mutex<[PermanentKey]>([])
    /// The children of this context, and those that merge its changes automatically.
    let children = LivingContexts()
    let followers = MergingContexts()
    /// What the object was made of that was made last.
    @exclusivity(unchecked)
    var lastMade: LastMade?

    /// A class and its entity, which is not retained for each object: its store is held longer than this is kept.
    struct LastMade {
        let type: ManagedObject.Type
        unowned(unsafe) let entity: EntityRuntime
    }

    private let knownTraceID = Atomic<DictionaryID>(0)
    /// Whether use off the queue ends the program.
    let isQueueChecked = ConcurrencyDebug.isOn
    /// Pieces of work that were asked for and are not done.
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

    // MARK: - The queue

    /// When work that was asked for is done.
    public enum ScheduledTaskType: Sendable {
        /// At once, if the caller is on the context's queue: with a main context, on the main thread. Otherwise as
        /// ``enqueued``.
        case immediate
        /// After what was asked for before.
        case enqueued
    }

    /// Does work on the context's queue and waits for it without blocking a thread.
    ///
    /// A program's main queue runs where its `main` is asynchronous or calls `dispatchMain()`; where it does neither, a
    /// main context is used on the main thread itself, or with ``performAndWait(fileID:line:function:_:)`` there.
    ///
    /// - Parameter schedule: when; by default at once if that is possible.
    /// - Throws: what the work throws; nothing if it throws nothing.
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
                    RecordedScope.with(scope) { Swift.Result(catching: work) }
                }
                continuation.resume(returning: result)
            }
        }
        return try result.get()
    }

    /// The main thread is the main queue's, so its work need not wait for a turn.
    private func runIfOnMainThread<Result, Failure: Error>(
        _ work: () throws(Failure) -> Result
    ) -> Swift.Result<Result, Failure>? {
        guard concurrencyType == .mainQueue, Self.isOnMainQueue else { return nil }
        return runOnQueue(outer: .current) { Swift.Result(catching: work) }
    }

    /// Does work on the context's queue and blocks until it is done.
    ///
    /// May be nested, also by way of other contexts: while this thread waits, nobody else is on the queues of those
    /// that it came through.
    public func performAndWait<Result: Sendable>(
        fileID: StaticString = #fileID, line: UInt = #line, function: StaticString = #function,
        _ work: () throws -> Result
    ) rethrows -> Result {
        let outer = HeldContexts.current
        if outer?.contains(self) == true { return try work() }
        // The main thread is the main queue's, and could wait for itself for ever.
        if concurrencyType == .mainQueue, Self.isOnMainQueue { return try runOnQueue(outer: outer, work) }
        let scope = RecordedScope.inherited
        let request = request(fileID, line, function, isBlocking: concurrencyType == .privateQueue)
        let isOnMainQueue = Self.isOnMainQueue
        let loan = QueueLoans.shared.lend(Self.heldQueues, whileWaitingFor: queueKey)
        func wait() throws -> Result {
            try queue.sync {
                QueueLoans.shared.end(loan)
                return try run(request, outer: outer, isOnMainQueue: isOnMainQueue) {
                    try RecordedScope.with(scope, work)
                }
            }
        }
        return try request.asked == 0 ? wait() : Recorder.anchoringStacks(wait)
    }

    /// Work that is asked for and waits for its turn.
    private struct Request {
        var origin = TraceOrigin()
        /// When it was asked for; 0: nothing is recorded.
        var asked: UInt64 = 0
        /// Whom it waits for; `nil`: nobody.
        var wait: TraceEvent.Wait?
    }

    private func request(
        _ fileID: StaticString, _ line: UInt, _ function: StaticString, isBlocking: Bool
    ) -> Request {
        guard recorder.isEnabled else {
            queued.add(1, ordering: .relaxed)
            return Request()
        }
        // First: once others see that this waits, the owner may change.
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

    /// Does work as the context's, on its queue: before it what others have saved is taken in, and after it observers are
    /// told what changed.
    ///
    /// - Parameter isOnMainQueue: whether it is the main queue's work that waits for this.
    func runOnQueue<Result>(
        outer: HeldContexts?, isOnMainQueue: Bool = false, _ work: () throws -> Result
    ) rethrows -> Result {
        defer { for store in stores { store.pool.finishBursts() } }
        return try HeldContexts(self, outer: outer, isOnMainQueue: isOnMainQueue).run {
            noticeStores()
            mergeReceived()
            defer {
                undoManager?.endEvent()
                postChanges()
                letGoOfMembers()
            }
            return try work()
        }
    }

    private static let mainQueueMark = {
        let mark = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: mark, value: true)
        return mark
    }()

    /// Whether this thread does the work of the main queue.
    ///
    /// Once the main thread has no loop of its own, as in a program whose `main` is `async`, other threads do.
    static var isOnMainQueue: Bool {
        Thread.isMainThread || HeldContexts.current?.isOnMainQueue == true
            || DispatchQueue.getSpecific(key: mainQueueMark) == true
    }

    /// Whether this thread does the context's work.
    var isOnQueue: Bool {
        concurrencyType == .mainQueue && Self.isOnMainQueue || HeldContexts.current?.contains(self) == true
    }

    // MARK: - Changes

    /// Objects that are new and not saved, in the order in which they were made.
    public var insertedObjects: [ManagedObject] { inserted.keeping(\.isInserted) }

    /// Objects of the store that were changed and not saved.
    public var updatedObjects: [ManagedObject] { updated.filter { $0.isUpdated && !$0.isDeleted } }

    /// Objects that the next save deletes.
    public var deletedObjects: [ManagedObject] { deleted.filter { $0.isDeleted && !$0.flags.contains(.isInserted) } }

    /// Whether there is something to save.
    public var hasChanges: Bool {
        checkQueue()
        return inserted.contains { $0.isInserted } || updated.contains { $0.isUpdated } || !deletedObjects.isEmpty
    }

    /// Keeps an object that has just come to be here, if it is to be kept.
    @inline(__always)
    func retain(_ object: ManagedObject) {
        if retainsRegisteredObjects { retained.insert(object) }
    }

    /// Does not keep an object any more.
    func release(_ object: ManagedObject) {
        if retainsRegisteredObjects { retained.remove(object) }
    }

    /// The objects of this context that are alive, whether they were changed or not.
    public var registeredObjects: [ManagedObject] {
        checkQueue()
        return identities.objects()
    }

    /// Remembers what could not be read where reading cannot throw; the first failure is the one that is told.
    func observeReadError(_ error: StoreError) {
        readError = readError ?? error
    }

    /// Throws what could not be read where reading cannot throw.
    package func throwReadError() throws(StoreError) {
        guard let error = readError else { return }
        readError = nil
        throw error
    }
}

@available(*, unavailable)
extension ManagedObject.Seed: Sendable {}
