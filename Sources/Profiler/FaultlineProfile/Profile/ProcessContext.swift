package import FaultlineTrace

/// The state that the detectors of a process share: its dictionary, its call sites, and the open scopes and fetches.
package struct ProcessContext: Sendable {
    /// The maximum numbers of open entries.
    enum Capacity {
        static let fetches = 16384
        static let scopes = 8192
    }

    package var summary: ProcessSummary
    package private(set) var dictionary = TraceDictionary()
    package var fetches = BoundedTable<EventID, OpenFetch>(capacity: Capacity.fetches)
    package var scopes = BoundedTable<EventID, OpenScope>(capacity: Capacity.scopes)
    var threads: [UInt32: ThreadState] = [:]
    /// The fetch that the current event is, belongs to, or is the own statement of.
    package var current: CurrentFetch?
    /// Whether events were lost on a thread outside any scope.
    var hasLossOutsideScopes = false
    /// The wall times of scopes that have just ended, for evidence that was found in them earlier.
    var endedWallTimes: [(evidence: EvidenceReference, wallTime: UInt64)] = []
    /// The saves that other threads waited for, for the save detector.
    package var blockedSaves: [BlockedSave] = []

    var resolver: CallSiteResolver?
    /// Call sites and facts by stack, and call sites by static site.
    var stackSites = NumberedCache<CallSite?>()
    var stackFacts = NumberedCache<StackFacts>()
    var sites = NumberedCache<CallSite?>()
    /// The callers of the functions with the events' lines, by stack.
    var callers = NumberedCache<CallSite?>()
    /// The libraries that ran the program's statements, by stack.
    var libraries = NumberedCache<StatementLibrary?>()
    /// The functions in which statements were repeated, without the numbers of their calls.
    var activations: [StackPlace: Activation?] = [:]
    private var entityNames = NumberedCache<String>()
    private var kinds = KindCounts()
    /// Whether events have arrived.
    private var hasBegun = false
    private var shapeCache: [DictionaryID: Int] = [:]
    private var planCache: [DictionaryID: PlanFacts] = [:]
    private var sourceCache: [Int: Set<String>?] = [:]

    /// A fetch in the tables, as far as the current event needs it.
    package struct CurrentFetch: Sendable {
        /// The index in the tables.
        package var index: Int
        /// Whether a limit or an offset omits rows that match.
        var isCut = false
        /// The plan of the fetch's own statement.
        var plan: PlanFacts?
        /// Whether the program released the result without using it.
        var isUnused = false
    }

    /// The recent state of a thread.
    struct ThreadState: Sendable {
        var lastScope: EventID = 0
        var hasLossPending = false
        var mark = ThreadMark()
    }

    init(process: UInt32) {
        summary = ProcessSummary(process: process)
    }

    /// Inserts a dictionary entry.
    ///
    /// - Returns: Whether events came before it. Their groups may lack the name that the entry adds.
    mutating func insert(_ entry: DictionaryEntry, id: DictionaryID) -> Bool {
        dictionary.insert(entry, id: id)
        entityNames[id] = dictionary.entity(id)?.name
        // The reader sends entries first.
        guard hasBegun else { return false }
        resolver = nil
        (stackSites, stackFacts) = (NumberedCache(), NumberedCache())
        (sites, callers) = (NumberedCache(), NumberedCache())
        libraries = NumberedCache()
        activations = [:]
        shapeCache = [:]
        sourceCache = [:]
        return true
    }

    // MARK: - Events

    /// Whether an event belongs to the main queue although it did not run on the process's first thread.
    ///
    /// A main context works on the main queue, on whichever thread runs it. Once a program's `main` is asynchronous,
    /// that is no longer the first thread.
    func isMainQueue(_ event: TraceEvent) -> Bool {
        !event.isMainThread && event.context != 0 && dictionary.context(event.context)?.concurrency == "mainQueue"
    }

    /// Observes an event before the detectors do.
    mutating func begin(_ event: TraceEvent, in tables: inout ProfileTables) {
        hasBegun = true
        kinds.add(event)
        summary.counts.overhead &+= UInt64(event.overhead)
        // An entry that describes the process can come later than its first event.
        summary.start = min(summary.start, event.start)
        summary.end = max(summary.end, event.end)
        if event.kind.isSample { return }
        observeScope(of: event)
        current = nil
        switch event.detail {
        case .scope(let scope): return add(scope, event, to: &tables)
        case .use(let use): return add(use, event, to: &tables)
        case .release(let release):
            if release.fetch != 0 { fetches.update(release.fetch) { $0.isClosed = true } ?? () }
            return
        case .eviction(let eviction):
            summary.counts.rowsEvicted &+= UInt64(eviction.rows)
            summary.counts.bytesEvicted &+= eviction.bytes
            return
        default: break
        }
        observeSite(of: event)
        if event.parent == 0, let time = event.threadTime { kinds.addOutermost(event, time: time) }
        if event.scope == 0 { summary.counts.eventsOutsideScopes &+= 1 }
        // Waiting for a CPU is not work that another fetch or an index could save.
        let own = event.withoutRunDelay
        switch own.detail {
        case .fetch(let fetch): open(fetch, own, in: &tables)
        case .batch(let batch): add(batch, own, to: &tables)
        case .fault(let fault): add(fault, own, to: &tables)
        case .cacheHits(let hits): summary.counts.countedHits &+= hits.hits
        case .save(let save): add(save, event, to: &tables)
        case .sql(let statement): add(statement, own, to: &tables)
        default: break
        }
    }

    /// Sums up the scopes.
    ///
    /// No scope can be looked up afterward.
    mutating func finish(into tables: inout ProfileTables) {
        kinds.move(to: &summary.counts)
        // Closing needs the enclosing scopes to be open, in any order. The maxima are known only when all are closed.
        for scope in scopes.values { close(scope, in: &tables) }
        for scope in scopes.drain() { observeMost(of: scope.value, in: &tables) }
        _ = fetches.drain()
    }

    package func mark(of thread: UInt32) -> ThreadMark { threads[thread]?.mark ?? ThreadMark() }

    // MARK: - Names

    /// The name of an entity, or `nil` if it is not known.
    package func entityName(_ id: DictionaryID) -> String? { entityNames[id] }

    /// The index of a shape's trips.
    ///
    /// A shape that was lost is replaced by its entity.
    mutating func shapeIndex(_ id: DictionaryID, entity: DictionaryID, in tables: inout ProfileTables) -> Int {
        if id != 0, let index = shapeCache[id] { return index }
        let index = tables.shape(shape(id, entity: entity))
        if id != 0 { shapeCache[id] = index }
        return index
    }

    func shape(_ id: DictionaryID, entity: DictionaryID) -> ShapeEntry {
        dictionary.shape(id) ?? ShapeEntry(entity: entityName(entity) ?? "")
    }

    package mutating func plan(_ id: DictionaryID) -> PlanFacts? {
        guard id != 0 else { return nil }
        if let known = planCache[id] { return known }
        guard let facts = dictionary.plan(id).map(PlanFacts.init) else { return nil }
        planCache[id] = facts
        return facts
    }

    /// The entity trees that determine the results of a fetch, or `nil` if they cannot be determined.
    package mutating func sources(of index: Int, in tables: ProfileTables) -> Set<String>? {
        if let known = sourceCache[index] { return known }
        let sources = tables.sources(of: tables.fetches[index].key.shape)
        sourceCache[index] = .some(sources)
        return sources
    }

    // MARK: - Loss

    mutating func lose(_ loss: EventLoss) {
        summary.reportedLost &+= loss.events
        var thread = threads[loss.thread] ?? ThreadState()
        thread.hasLossPending = true
        threads[loss.thread] = thread
        markLoss(scope: thread.lastScope)
    }

    /// Records a loss of events that may belong to any thread of this process.
    mutating func loseAnywhere() {
        for thread in threads.keys { lose(EventLoss(process: summary.process, thread: thread, events: 0)) }
    }

    private mutating func observeScope(of event: TraceEvent) {
        guard event.thread != 0 || event.scope != 0 else { return }
        var scope = event.scope
        var begunScopes: UInt64 = 0
        if case .scope(let fields) = event.detail, fields.phase == .begin {
            scope = event.id
            begunScopes = 1
        }
        guard let index = threads.index(forKey: event.thread) else {
            summary.threads &+= 1
            threads[event.thread] = ThreadState(lastScope: scope, mark: ThreadMark(scopes: begunScopes))
            return
        }
        let hasLossPending = threads.values[index].hasLossPending
        threads.values[index].hasLossPending = false
        threads.values[index].lastScope = scope
        threads.values[index].mark.scopes &+= begunScopes
        if hasLossPending { markLoss(scope: event.scope) }
    }

    private mutating func markLoss(scope: EventID) {
        if scope == 0 {
            hasLossOutsideScopes = true
        } else {
            scopes.update(scope) { $0.isLossy = true } ?? ()
        }
    }
}

/// The progress of a thread, which shows whether it worked between two fetches.
package struct ThreadMark: Sendable {
    /// The time in the store, in nanoseconds.
    package var storeTime: UInt64 = 0
    /// The number of operations that are not part of others.
    package var operations: UInt64 = 0
    /// The number of scopes begun.
    package var scopes: UInt64 = 0

    package init(scopes: UInt64 = 0) { self.scopes = scopes }
}

extension ProcessContext {
    /// Counts a save, and adds its unread objects to the fetches that returned them.
    mutating func add(_ save: TraceEvent.Save, _ event: TraceEvent, to tables: inout ProfileTables) {
        summary.counts.bytesWritten &+= save.bytes
        // A later save writes, and counts, what did not reach the store.
        guard save.error == 0, save.reachedStore else { return }
        if save.conflicts == 0, !isSetup(event.scope) {
            let site = callSite(of: event)
            for part in save.unread {
                _ = fetches.update(part.fetch) { $0.unread.add(part, of: save, event, at: site) }
            }
        }
        for change in save.entities {
            guard let name = entityName(change.entity) else { continue }
            var changes = EntityChanges()
            (changes.saves, changes.inserted) = (1, UInt64(change.inserted))
            (changes.updated, changes.deleted) = (UInt64(change.updated), UInt64(change.deleted))
            tables.changes[name, default: EntityChanges()].merge(changes)
        }
        guard save.objects > 0, event.hasLoad else { return }
        tables.saveLoads.insert(
            Load(rows: save.objects, bytes: save.bytes, duration: save.unblockedTime(of: event)),
            hash: StableHash.event(process: event.process, id: event.id))
    }

    /// The names of the changed entities, in alphabetical order.
    package func entityNames(of changes: [TraceEvent.Save.Change]) -> [String] {
        changes.compactMap { entityName($0.entity) }.sorted()
    }
}

extension TraceEvent.Save {
    /// The save's time without waits for a lock or for a CPU, in nanoseconds.
    package func unblockedTime(of event: TraceEvent) -> UInt64 {
        event.ownDuration &- min(event.ownDuration, lockWait)
    }

    /// The part of a save's time that its rows share, in nanoseconds.
    ///
    /// It excludes waits for the lock, and COMMIT, which waits for the disk and may checkpoint the write-ahead log of
    /// all earlier saves.
    package func ownTime(of event: TraceEvent) -> UInt64 {
        event.ownDuration &- min(event.ownDuration, lockWait &+ min(commit, event.ownDuration))
    }
}
