internal import FaultlineTrace

/// Reduces the events of one process to tables, with bounded memory for what is still going on.
///
/// Events of one thread come in the order in which they ended, those of different threads in any order. So whatever
/// joins two events (an event and its parent, a fault and its fetch, an event and its scope) works whichever of the two
/// comes first.
struct ProcessReduction: Sendable {
    /// What is kept at a time of things that are not finished.
    enum Capacity {
        static let parents = 4096
        static let fetches = 32768
        static let scopes = 8192
        static let faultGroups = 4096
        static let loops = 4096
        static let saves = 4096
        static let repeats = 4096
    }

    var summary: ProcessSummary
    var dictionary = TraceDictionary()
    private var resolver: CallSiteResolver?
    private var threads: [UInt32: ThreadState] = [:]
    private var childTime = BoundedTable<EventID, UInt64>(capacity: Capacity.parents)
    private var groupCache: [GroupCacheKey: Int] = [:]
    private var siteCache: [SiteCacheKey: CallSite?] = [:]
    private var shapeCache: [DictionaryID: Int] = [:]
    /// What the fetches of a place in the tables read; see ``sources(of:in:)``.
    var sourceCache: [Int: Set<String>?] = [:]
    var fetches = BoundedTable<EventID, OpenFetch>(capacity: Capacity.fetches)
    var scopes = BoundedTable<EventID, OpenScope>(capacity: Capacity.scopes)
    var faults = BoundedTable<OpenFaults.Key, OpenFaults>(capacity: Capacity.faultGroups)
    var loops = BoundedTable<OpenLoop.Key, OpenLoop>(capacity: Capacity.loops)
    var saves = BoundedTable<OpenSaves.Key, OpenSaves>(capacity: Capacity.saves)
    var repeats = BoundedTable<OpenRepeat.Key, OpenRepeat>(capacity: Capacity.repeats)
    var writes = WriteLog()
    /// What threads did in the store of late, by thread.
    var threadWork: [UInt32: ThreadWork] = [:]
    var reads: [FirstReads: UInt64] = [:]
    /// Whether events were lost on a thread that was outside any scope at the time.
    var hasLossOutsideScopes = false

    private struct ThreadState: Sendable {
        /// The events that ended last, so that a part that is written after its whole can be taken off it.
        var recent: [Ended] = []
        var lastScope: EventID = 0
        var hasLossPending = false
        var mark = ThreadMark()
        private var oldest = 0

        mutating func remember(_ ended: Ended) {
            if recent.count < 8 {
                recent.append(ended)
            } else {
                recent[oldest] = ended
                oldest = (oldest + 1) % 8
            }
        }
    }

    private struct Ended: Sendable {
        var id: EventID
        var parent: EventID
        var scope: EventID
        /// `nil` for events whose time is part of their parent's.
        var group: Int?
        var isMainThread: Bool
    }

    private struct GroupCacheKey: Sendable, Hashable {
        var kind: EventKind
        var type: UInt32
        var source: UInt32
        var subject: DictionaryID
        var second: DictionaryID
        var site: DictionaryID
        var stack: DictionaryID
        var fetch: Int
    }

    private struct SiteCacheKey: Sendable, Hashable {
        var kind: EventKind
        var site: DictionaryID
        var stack: DictionaryID
    }

    init(process: UInt32) {
        summary = ProcessSummary(process: process)
    }

    mutating func insert(_ entry: DictionaryEntry, id: DictionaryID, into tables: inout ProfileTables) {
        dictionary.insert(entry, id: id)
        if case .entity(let entity) = entry { tables.insert(entity) }
        if resolver != nil {
            // The reader sends entries first. One that comes late may name what was cached as unknown.
            resolver = nil
            groupCache = [:]
            siteCache = [:]
            shapeCache = [:]
            sourceCache = [:]
        }
    }

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

    mutating func add(_ event: TraceEvent, to tables: inout ProfileTables) {
        summary.counts.events[event.kind, default: 0] &+= 1
        summary.counts.overhead &+= UInt64(event.overhead)
        // What is known of a process can have been told later than its first event.
        summary.start = min(summary.start, event.start)
        summary.end = max(summary.end, event.end)
        noteScope(of: event)
        switch event.detail {
        case .scope(let scope): add(scope, event, to: &tables)
        case .use(let use): add(use, event, to: &tables)
        default:
            notePlace(of: event)
            account(event, in: &tables)
        }
    }

    /// Sums the event up, and feeds what joins events.
    private mutating func account(_ event: TraceEvent, in tables: inout ProfileTables) {
        if event.parent == 0, event.isOnThread {
            summary.counts.outermostEvents[event.kind, default: 0] &+= 1
            summary.counts.outermostTime[event.kind, default: 0] &+= event.duration
        }
        if event.scope == 0 { summary.counts.eventsOutsideScopes &+= 1 }
        var fetchIndex: Int?
        switch event.detail {
        case .fetch(let fetch):
            let index = open(fetch, event, in: &tables)
            noteLoop(fetch, event, at: index, in: &tables)
            noteRepeat(fetch, event, at: index, in: &tables)
            fetchIndex = index
        case .batch(let batch): fetchIndex = add(batch, event, to: &tables)
        case .fault(let fault): add(fault, event, to: &tables)
        case .save(let save):
            summary.counts.bytesWritten &+= save.bytes
            noteSave(save, event, in: &tables)
            noteWrite(of: save.entities.map(\.entity), event, in: tables)
        case .sql(let statement): add(statement, event, to: &tables)
        case .merge(let merge): noteWrite(of: merge.entities.map(\.entity), event, in: tables)
        case .refresh(let refresh):
            noteWrite(of: refresh.entity == 0 ? [] : [refresh.entity], event, in: tables)
        case .wait(let wait): noteWait(wait, event, in: &tables)
        case .cacheMiss, .use, .scope: break
        }
        noteWork(event, in: &tables)
        let group = self.group(of: event, fetch: fetchIndex, in: &tables)
        tables.changeGroup(group) {
            $0.durations.record(event.duration)
            $0.counts.add(event)
            if event.isMainThread, event.isOnThread { $0.mainThreadTime &+= event.duration }
        }
        if event.isOnThread { accountTime(of: event, group: group, in: &tables) }
    }

    private mutating func add(_ statement: TraceEvent.Statement, _ event: TraceEvent, to tables: inout ProfileTables) {
        switch statement.type {
        case .read:
            summary.counts.reads &+= 1
            if event.parent == 0 { summary.counts.outermostReads &+= 1 }
            addTrip(scope: event.scope, isStatement: true, to: &tables)
            add(statement, of: event.parent, to: &tables)
            let load = Load(rows: max(1, UInt64(statement.rows)), bytes: 0, duration: event.duration)
            tables.statements.insert(load, hash: StableHash.event(process: event.process, id: event.id))
        case .write: summary.counts.writes &+= 1
        case .transaction: summary.counts.transactions &+= 1
        case .schema: summary.counts.schemaStatements &+= 1
        }
    }

    // MARK: Time

    /// Adds the event's time less that of the events within it, and takes it off the event that it is within.
    private mutating func accountTime(of event: TraceEvent, group: Int, in tables: inout ProfileTables) {
        let children = childTime.remove(event.id) ?? 0
        let isPart = event.kind == .cacheMiss
        let ended = Ended(
            id: event.id, parent: event.parent, scope: event.scope, group: isPart ? nil : group,
            isMainThread: event.isMainThread)
        if !isPart { credit(Int64(clamping: event.duration) - Int64(clamping: children), to: ended, in: &tables) }
        give(isPart ? children : event.duration, to: event.parent, thread: event.thread, in: &tables)
        threads[event.thread, default: ThreadState()].remember(ended)
        if event.parent == 0 { threads[event.thread]?.mark.storeTime &+= event.duration }
    }

    func mark(of thread: UInt32) -> ThreadMark { threads[thread]?.mark ?? ThreadMark() }

    private mutating func give(_ time: UInt64, to parent: EventID, thread: UInt32, in tables: inout ProfileTables) {
        guard parent != 0, time > 0 else { return }
        if let ended = threads[thread]?.recent.first(where: { $0.id == parent }) {
            if ended.group == nil {
                give(time, to: ended.parent, thread: thread, in: &tables)
            } else {
                credit(-Int64(clamping: time), to: ended, in: &tables)
            }
        } else if childTime.update(parent, { $0 &+= time }) == nil {
            _ = childTime.insert(time, for: parent)
        }
    }

    private mutating func credit(_ time: Int64, to ended: Ended, in tables: inout ProfileTables) {
        guard let group = ended.group else { return }
        tables.changeGroup(group) { $0.netTime &+= time }
        summary.counts.netTime &+= time
        if ended.isMainThread { summary.counts.netMainThreadTime &+= time }
        changeScope(ended.scope, in: &tables) { $0.netTime &+= time }
    }

    // MARK: Places

    private mutating func notePlace(of event: TraceEvent) {
        guard event.kind != .cacheMiss else { return }
        summary.counts.eventsWithPlace &+= 1
        if callSite(of: event) == nil { summary.counts.eventsWithoutSite &+= 1 }
        guard event.stack != 0 else { return }
        summary.counts.eventsWithStack &+= 1
        if dictionary.stack(event.stack)?.isTruncated == true { summary.counts.truncatedStacks &+= 1 }
        if stackSite(of: event) == nil { summary.counts.unresolvedStacks &+= 1 }
    }

    /// Where the program asked for what happened.
    mutating func callSite(of event: TraceEvent) -> CallSite? {
        site(SiteCacheKey(kind: event.kind, site: event.site, stack: event.stack)) { $0.callSite(of: event) }
    }

    /// Where in the program it happened, by the event's stack alone.
    mutating func stackSite(of event: TraceEvent) -> CallSite? {
        site(SiteCacheKey(kind: .scope, site: 0, stack: event.stack)) { $0.stackSite(of: event) }
    }

    /// The line of a static site.
    mutating func callSite(of site: DictionaryID) -> CallSite? {
        site == 0 ? nil : callSite(of: TraceEvent(site: site, .wait(TraceEvent.Wait())))
    }

    mutating func stackSite(of stack: DictionaryID) -> CallSite? {
        stackSite(of: TraceEvent(stack: stack, .scope(TraceEvent.Scope())))
    }

    private mutating func site(_ key: SiteCacheKey, _ find: (inout CallSiteResolver) -> CallSite?) -> CallSite? {
        if let site = siteCache[key] { return site }
        // Taken out and put back, so that it is changed in place and not copied.
        var resolver = self.resolver.take() ?? CallSiteResolver(dictionary: dictionary)
        let site = find(&resolver)
        self.resolver = resolver
        siteCache[key] = .some(site)
        return site
    }

    /// Where a fault fired or a batch was loaded; the static site only where there is no stack.
    mutating func causeSite(of event: TraceEvent) -> CallSite? {
        stackSite(of: event) ?? callSite(of: event)
    }

    /// Where the function that holds the event's line was called.
    mutating func caller(of event: TraceEvent) -> CallSite? {
        site(SiteCacheKey(kind: .use, site: 0, stack: event.stack)) { resolver in
            let callers = resolver.callers(of: event, limit: 2)
            return callers.count == 2 ? callers[1] : nil
        }
    }

    // MARK: Groups

    private mutating func group(of event: TraceEvent, fetch: Int?, in tables: inout ProfileTables) -> Int {
        let (type, source, subject, second) = Self.identity(of: event)
        let cacheKey = GroupCacheKey(
            kind: event.kind, type: type, source: source, subject: subject, second: second, site: event.site,
            stack: event.stack, fetch: event.kind == .batch ? fetch ?? -1 : -1)
        let isCached = event.kind != .save && event.kind != .merge
        if isCached, let index = groupCache[cacheKey] { return index }
        var key = EventGroup.Key(kind: event.kind, subject: self.subject(of: event))
        if case .fault(let fault) = event.detail { (key.faultType, key.source) = (fault.type, fault.source) }
        if case .sql(let statement) = event.detail { key.statementType = statement.type }
        switch event.kind {
        case .fault, .cacheMiss: key.site = causeSite(of: event)
        case .batch:
            key.site = causeSite(of: event)
            key.fetchSite = fetch.flatMap { tables.fetches[$0].key.site }
        default: key.site = callSite(of: event)
        }
        let index = tables.group(key)
        if isCached { groupCache[cacheKey] = index }
        return index
    }

    /// The numbers that tell an event's group apart from others of its kind.
    private static func identity(of event: TraceEvent) -> (UInt32, UInt32, DictionaryID, DictionaryID) {
        switch event.detail {
        case .fetch(let fetch): (0, 0, fetch.shape, fetch.entity)
        case .batch(let batch): (0, 0, batch.shape, batch.entity)
        case .fault(let fault):
            (
                fault.type.rawValue, fault.source.rawValue, fault.relationship,
                fault.relationship == 0 ? fault.entity : fault.relationshipEntity
            )
        case .cacheMiss(let miss): (0, 0, miss.entity, 0)
        case .sql(let statement): (statement.type.rawValue, 0, statement.statement, 0)
        case .save, .use, .scope, .merge: (0, 0, 0, 0)
        case .refresh(let refresh): (0, 0, refresh.entity, 0)
        case .wait(let wait): (wait.resource.rawValue, 0, 0, 0)
        }
    }

    private func subject(of event: TraceEvent) -> EventGroup.Key.Subject {
        let entity = { (id: DictionaryID) -> EventGroup.Key.Subject in
            dictionary.entity(id).map { .entity($0.name) } ?? .unknown
        }
        switch event.detail {
        case .fetch(let fetch): return dictionary.shape(fetch.shape).map { .shape($0) } ?? entity(fetch.entity)
        case .batch(let batch): return dictionary.shape(batch.shape).map { .shape($0) } ?? entity(batch.entity)
        case .fault(let fault):
            guard let name = dictionary.name(fault.relationship) else { return entity(fault.entity) }
            return .relationship(entity: dictionary.entity(fault.relationshipEntity)?.name ?? "", name: name)
        case .cacheMiss(let miss): return entity(miss.entity)
        case .save(let save): return .saved(save.entities.compactMap { dictionary.entity($0.entity)?.name }.sorted())
        case .sql(let statement):
            return dictionary.statement(statement.statement).map { .statement($0.sql) } ?? .unknown
        case .use, .scope: return .unknown
        case .merge(let merge): return .saved(merge.entities.compactMap { dictionary.entity($0.entity)?.name }.sorted())
        case .refresh(let refresh): return refresh.entity == 0 ? .named("objects") : entity(refresh.entity)
        case .wait(let wait): return .named("\(wait.resource)")
        }
    }

    // MARK: Shapes

    /// The table of a shape's trips; a shape that was lost is told apart by its entity.
    mutating func shapeIndex(_ id: DictionaryID, entity: DictionaryID, in tables: inout ProfileTables) -> Int {
        if id != 0, let index = shapeCache[id] { return index }
        let index = tables.shape(shape(id, entity: entity))
        if id != 0 { shapeCache[id] = index }
        return index
    }

    func shape(_ id: DictionaryID, entity: DictionaryID) -> ShapeEntry {
        dictionary.shape(id) ?? ShapeEntry(entity: dictionary.entity(entity)?.name ?? "")
    }

    // MARK: Loss

    private mutating func noteScope(of event: TraceEvent) {
        guard event.thread != 0 || event.scope != 0 else { return }
        var scope = event.scope
        var begunScopes: UInt64 = 0
        if case .scope(let fields) = event.detail, fields.phase == .begin {
            scope = event.id
            begunScopes = 1
        }
        if threads[event.thread]?.hasLossPending == true {
            threads[event.thread]?.hasLossPending = false
            markLoss(scope: event.scope)
        }
        if threads[event.thread] == nil { summary.threads &+= 1 }
        threads[event.thread, default: ThreadState()].lastScope = scope
        threads[event.thread]?.mark.scopes &+= begunScopes
    }

    private mutating func markLoss(scope: EventID) {
        if scope == 0 {
            hasLossOutsideScopes = true
        } else {
            scopes.update(scope) { $0.isLossy = true } ?? ()
        }
    }
}
