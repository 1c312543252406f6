internal import FaultlineTrace

/// What the detectors of a process share: its dictionary, its call sites, the scopes and fetches that are open.
struct ProcessContext: Sendable {
    /// What is kept at a time of things that are not finished.
    enum Capacity {
        static let fetches = 16384
        static let scopes = 8192
    }

    var summary: ProcessSummary
    private(set) var dictionary = TraceDictionary()
    var fetches = BoundedTable<EventID, OpenFetch>(capacity: Capacity.fetches)
    var scopes = BoundedTable<EventID, OpenScope>(capacity: Capacity.scopes)
    var threads: [UInt32: ThreadState] = [:]
    /// The fetch that the event at hand is, belongs to, or is the own statement of.
    var current: CurrentFetch?
    /// Whether events were lost on a thread that was outside any scope at the time.
    var hasLossOutsideScopes = false
    /// Wall time of scopes that have just ended, for evidence that was found in them before.
    var payments: [(evidence: EvidenceReference, wallTime: UInt64)] = []
    /// What waited for the lock of large saves, for the detector that judges saves.
    var blockedSaves: [BlockedSave] = []

    var resolver: CallSiteResolver?
    /// Call sites and facts by stack, and call sites by static site.
    var stackSites = NumberedCache<CallSite?>()
    var stackFacts = NumberedCache<StackFacts>()
    var sites = NumberedCache<CallSite?>()
    /// The calls of the functions that hold events' lines, by their stacks.
    var callers = NumberedCache<CallSite?>()
    private var entityNames = NumberedCache<String>()
    private var kinds = KindCounts()
    /// Whether events have come.
    private var hasBegun = false
    private var shapeCache: [DictionaryID: Int] = [:]
    private var planCache: [DictionaryID: PlanFacts] = [:]
    private var sourceCache: [Int: Set<String>?] = [:]

    /// A fetch in the tables, as far as it concerns the event at hand.
    struct CurrentFetch: Sendable {
        /// Its place in the tables.
        var index: Int
        /// Whether a limit or an offset leaves out a part of what matches.
        var isCut = false
        /// Of its own statement.
        var plan: PlanFacts?
        /// Whether the program released its result without having used anything of it.
        var isUnused = false
    }

    /// A thread's recent past.
    struct ThreadState: Sendable {
        var lastScope: EventID = 0
        var hasLossPending = false
        var mark = ThreadMark()
    }

    init(process: UInt32) {
        summary = ProcessSummary(process: process)
    }

    /// Takes in an entry of the dictionary.
    ///
    /// - Returns: Whether events came before it: what was worked out for them may have been without a name.
    mutating func insert(_ entry: DictionaryEntry, id: DictionaryID) -> Bool {
        dictionary.insert(entry, id: id)
        entityNames[id] = dictionary.entity(id)?.name
        // The reader sends entries first.
        guard hasBegun else { return false }
        resolver = nil
        (stackSites, stackFacts) = (NumberedCache(), NumberedCache())
        (sites, callers) = (NumberedCache(), NumberedCache())
        shapeCache = [:]
        sourceCache = [:]
        return true
    }

    // MARK: - Events

    /// Whether an event is the main queue's, although another thread than the process's first ran it.
    ///
    /// A main context's work is the main queue's, on whatever thread that runs: once a program's `main` is asynchronous it is
    /// no longer the first.
    func isMainQueue(_ event: TraceEvent) -> Bool {
        !event.isMainThread && event.context != 0 && dictionary.context(event.context)?.concurrency == "mainQueue"
    }

    /// Takes in an event before the detectors see it.
    mutating func begin(_ event: TraceEvent, in tables: inout ProfileTables) {
        hasBegun = true
        kinds.add(event)
        summary.counts.overhead &+= UInt64(event.overhead)
        // What is known of a process can have been told later than its first event.
        summary.start = min(summary.start, event.start)
        summary.end = max(summary.end, event.end)
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
        observePlace(of: event)
        if event.parent == 0, event.isOnThread {
            kinds.addOutermost(event)
        }
        if event.scope == 0 { summary.counts.eventsOutsideScopes &+= 1 }
        switch event.detail {
        case .fetch(let fetch): open(fetch, event, in: &tables)
        case .batch(let batch): add(batch, event, to: &tables)
        case .fault(let fault): add(fault, event, to: &tables)
        case .save(let save): add(save, event, to: &tables)
        case .sql(let statement): add(statement, event, to: &tables)
        default: break
        }
    }

    /// Sums up the scopes, the last that anything is looked up in.
    mutating func finish(into tables: inout ProfileTables) {
        kinds.move(to: &summary.counts)
        // Each still finds those around it; sums do not hang on the order. What one had at most is known after that.
        for scope in scopes.values { close(scope, in: &tables) }
        for scope in scopes.drain() { observeMost(of: scope.value, in: &tables) }
        _ = fetches.drain()
    }

    func mark(of thread: UInt32) -> ThreadMark { threads[thread]?.mark ?? ThreadMark() }

    // MARK: - Names

    /// The name of an entity, or `nil` if it is not known.
    func entityName(_ id: DictionaryID) -> String? { entityNames[id] }

    /// The table of a shape's trips; a shape that was lost is told apart by its entity.
    mutating func shapeIndex(_ id: DictionaryID, entity: DictionaryID, in tables: inout ProfileTables) -> Int {
        if id != 0, let index = shapeCache[id] { return index }
        let index = tables.shape(shape(id, entity: entity))
        if id != 0 { shapeCache[id] = index }
        return index
    }

    func shape(_ id: DictionaryID, entity: DictionaryID) -> ShapeEntry {
        dictionary.shape(id) ?? ShapeEntry(entity: entityName(entity) ?? "")
    }

    mutating func plan(_ id: DictionaryID) -> PlanFacts? {
        guard id != 0 else { return nil }
        if let known = planCache[id] { return known }
        guard let facts = dictionary.plan(id).map(PlanFacts.init) else { return nil }
        planCache[id] = facts
        return facts
    }

    /// The trees of entities that decide what the fetches of a place in the tables find; `nil`: it cannot be told.
    mutating func sources(of index: Int, in tables: ProfileTables) -> Set<String>? {
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

    /// Events were lost that may have been of this process, on any of its threads.
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

/// What a thread has done so far, as far as one fetch tells apart from the next.
struct ThreadMark: Sendable {
    /// Time in the store, in nanoseconds.
    var storeTime: UInt64 = 0
    /// Scopes that it has begun.
    var scopes: UInt64 = 0
}
