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
        static let fetches = 16384
        static let scopes = 8192
        static let faultGroups = 2048
        static let loops = 4096
        static let lookUps = 2048
        static let saves = 4096
        static let repeats = 4096
        static let threads = 1024
        static let holds = 8192
    }

    var summary: ProcessSummary
    var dictionary = TraceDictionary()
    var resolver: CallSiteResolver?
    private var threads: [UInt32: ThreadState] = [:]
    private var childTime = BoundedTable<EventID, UInt64>(capacity: Capacity.parents)
    var groupCache: [GroupCacheKey: Int] = [:]
    var siteCache: [SiteCacheKey: CallSite?] = [:]
    private var shapeCache: [DictionaryID: Int] = [:]
    var planCache: [DictionaryID: PlanFacts] = [:]
    /// What the fetches of a place in the tables read; see ``sources(of:in:)``.
    var sourceCache: [Int: Set<String>?] = [:]
    var fetches = BoundedTable<EventID, OpenFetch>(capacity: Capacity.fetches)
    var scopes = BoundedTable<EventID, OpenScope>(capacity: Capacity.scopes)
    var faults = BoundedTable<OpenFaults.Key, OpenFaults>(capacity: Capacity.faultGroups)
    var loops = BoundedTable<OpenLoop.Key, OpenLoop>(capacity: Capacity.loops)
    var lookUps = BoundedTable<OpenLookUps.Key, OpenLookUps>(capacity: Capacity.lookUps)
    var saves = BoundedTable<OpenSaves.Key, OpenSaves>(capacity: Capacity.saves)
    var repeats = BoundedTable<OpenRepeat.Key, OpenRepeat>(capacity: Capacity.repeats)
    var writes = WriteLog()
    /// When a fault was last served by what another fetch had loaded, by the tree of its object.
    var lastServed: [String: UInt64] = [:]
    /// When the first fetch began of whose rows nobody used one, by its place in the tables.
    var firstUnused: [Int: UInt64] = [:]
    /// What threads did in the store of late, by thread.
    var threadWork = BoundedTable<UInt32, ThreadWork>(capacity: Capacity.threads)
    /// What the main thread is doing, or whichever does its work.
    var block: OpenBlock?
    var reads: [FirstReads: UInt64] = [:]
    /// By the fetch's place in the tables.
    var sizes: [Int: ResultSizes] = [:]
    var reuses = ReuseTracker()
    var invalidations = Invalidations()
    var holds = BoundedTable<EventID, OpenHold>(capacity: Capacity.holds)
    /// Faults whose objects let go of their values before the fault itself came.
    var earlyReleases = BoundedTable<EventID, Bool>(capacity: Capacity.holds)
    /// The faults that filled them, by the piece of work.
    var heldInScopes: [EventID: Set<EventID>] = [:]
    /// The same, by the fetch whose result holds the objects as its rows.
    var heldInResults: [EventID: Set<EventID>] = [:]
    var overdue: [HoldEvidence.Key: OverdueHolds] = [:]
    /// Whether events were lost on a thread that was outside any scope at the time.
    var hasLossOutsideScopes = false

    private struct ThreadState: Sendable {
        /// The events that ended last, so that a part that is written after its whole can be taken off it.
        var recent: [Ended] = []
        var lastScope: EventID = 0
        var hasLossPending = false
        var mark = ThreadMark()
        /// When the last event was that was within no other.
        private var outermost: Span = (0, 0)
        private var oldest = 0

        private typealias Span = (start: UInt64, end: UInt64)

        /// Remembers when an event was that was within no other.
        ///
        /// - Returns: Whether it overlaps with the one before, which no thread can do: neither is within the other.
        mutating func overlaps(_ event: TraceEvent) -> Bool {
            let (before, now): (Span, Span) = (outermost, (event.start, event.end))
            outermost = now
            return Self.reaches(before, into: now) || Self.reaches(now, into: before)
        }

        private static func reaches(_ first: Span, into second: Span) -> Bool {
            first.start < second.start && second.start < first.end && first.end < second.end
        }

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

    init(process: UInt32) {
        summary = ProcessSummary(process: process)
    }

    mutating func insert(_ entry: DictionaryEntry, id: DictionaryID, into tables: inout ProfileTables) {
        if case .destinationUse(let use) = entry { return tables.insert(use) }
        dictionary.insert(entry, id: id)
        switch entry {
        case .entity(let entity): tables.insert(entity)
        case .plan(let plan): tables.insert(plan)
        default: break
        }
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
        var event = event
        // A main context's work is the main queue's, on whatever thread that runs: once a program's `main` is asynchronous it
        // is no longer the process's first.
        if !event.isMainThread, event.context != 0, dictionary.context(event.context)?.concurrency == "mainQueue" {
            event.isMainThread = true
        }
        summary.counts.events[event.kind, default: 0] &+= 1
        summary.counts.overhead &+= UInt64(event.overhead)
        // What is known of a process can have been told later than its first event.
        summary.start = min(summary.start, event.start)
        summary.end = max(summary.end, event.end)
        noteScope(of: event)
        switch event.detail {
        case .scope(let scope): add(scope, event, to: &tables)
        case .use(let use): add(use, event, to: &tables)
        case .release(let release): noteRelease(release, in: &tables)
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
            noteUnread(save, event)
            noteSave(save, event, in: &tables)
            noteChanges(save, in: &tables)
            noteWrite(of: save.entities.map(\.entity), event, in: tables)
        case .sql(let statement): count(statement, event, in: &tables)
        case .merge(let merge): noteWrite(of: merge.entities.map(\.entity), event, in: tables)
        case .refresh(let refresh):
            noteWrite(of: refresh.entity == 0 ? [] : [refresh.entity], event, in: tables)
        case .wait(let wait): noteWait(wait, event, in: &tables)
        default: break
        }
        noteInvalidation(event, in: tables)
        noteWork(event, in: &tables)
        noteBlock(event, in: &tables)
        let group = self.group(of: event, fetch: fetchIndex, in: &tables)
        tables.changeGroup(group) {
            if event.untold.contains(.duration) { $0.untimed &+= 1 } else { $0.addTime(of: event) }
            $0.uncounted &+= event.untold.contains(.rows) ? 1 : 0
            $0.counts.add(event)
            if event.isMainThread, event.isOnThread { $0.mainThreadTime &+= event.duration }
        }
        if case .save(let save) = event.detail, isSetup(event.scope) {
            // What is prepared is set as it has to be.
            tables.changeGroup(group) { $0.counts.unchanged &-= UInt64(save.unchanged) }
        }
        if event.isOnThread { accountTime(of: event, group: group, in: &tables) }
    }

    private mutating func count(_ statement: TraceEvent.Statement, _ event: TraceEvent, in tables: inout ProfileTables)
    {
        switch statement.type {
        case .read:
            summary.counts.reads &+= 1
            if event.parent == 0 { summary.counts.outermostReads &+= 1 }
            addTrip(scope: event.scope, isStatement: true, to: &tables)
            add(statement, event, to: &tables)
            let load = Load(rows: max(1, UInt64(statement.rows)), bytes: 0, duration: event.duration)
            guard event.tellsLoad else { break }
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
        guard event.parent == 0 else { return }
        threads[event.thread]?.mark.storeTime &+= event.duration
        if !isPart, threads[event.thread]?.overlaps(event) == true { summary.counts.overlaps &+= 1 }
    }

    func mark(of thread: UInt32) -> ThreadMark { threads[thread]?.mark ?? ThreadMark() }

    private mutating func give(_ time: UInt64, to parent: EventID, thread: UInt32, in tables: inout ProfileTables) {
        guard parent != 0, time > 0 else { return }
        if let ended = threads[thread]?.recent.first(where: { $0.id == parent }) {
            if ended.group == nil {
                // Who is within another began later; a damaged trace can say otherwise, without end.
                guard ended.parent < ended.id else { return }
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
        changeScope(ended.scope, in: &tables) { $0.own.netTime &+= time }
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
