internal import FaultlineProfile
internal import FaultlineTrace

/// The events that turned objects of a tree back into faults, or may have changed them.
struct Invalidations: Sendable {
    /// By tree, the time of the last change, and the number of changed objects that have not been read again.
    var changes: [String: (time: UInt64, objects: UInt64)] = [:]
    /// By tree, the time and line of the last refresh.
    ///
    /// The empty name stands for all trees.
    var refreshes: [String: (time: UInt64, site: CallSite?)] = [:]

    /// The reason why an object's row was no longer in memory.
    enum Reason: Sendable {
        case changed
        case refreshed(at: CallSite?)
        /// The row was evicted.
        case evicted
    }

    /// Determines why an object of a tree was read again.
    mutating func reason(for reuse: ReuseTracker.Reuse, in tree: String) -> Reason {
        if takeChange(of: tree, since: reuse.last) { return .changed }
        let latest = [refreshes[tree], refreshes[""]].compactMap { $0 }.max { $0.time < $1.time }
        guard let latest, latest.time >= reuse.last else { return .evicted }
        return .refreshed(at: latest.site)
    }

    /// Uses up a change to the tree since a time as the reason why an object was read again.
    private mutating func takeChange(of tree: String, since time: UInt64) -> Bool {
        guard let change = changes[tree], change.time >= time, change.objects > 0 else { return false }
        changes[tree]?.objects -= 1
        return true
    }
}

/// Detects objects whose rows were read from the store again although they had been in memory.
struct RefaultDetector: EvidenceDetector {
    static let name = "refaults"
    static let kinds: Set<EventKind> = [.fault, .save, .merge, .refresh]

    /// The memory that a row takes beyond its values, in bytes.
    private static let rowOverhead: UInt64 = 64

    var evidence: [RefaultEvidence.Key: RefaultEvidence] = [:]
    private var reuses = ReuseTracker()
    private var invalidations = Invalidations()

    mutating func observe(_ event: TraceEvent, in context: inout ProcessContext, _ tables: inout ProfileTables) {
        switch event.detail {
        case .fault(let fault): observe(fault, event, in: &context, tables)
        case .save(let save): observe(save.entities, event, in: context, tables)
        case .merge(let merge): observe(merge.entities, event, in: context, tables)
        case .refresh(let refresh):
            let tree = context.entityName(refresh.entity).map { tables.tree(of: $0) } ?? ""
            if event.start >= invalidations.refreshes[tree]?.time ?? 0 {
                invalidations.refreshes[tree] = (event.start, context.callSite(of: event))
            }
        default: break
        }
    }

    mutating func finish(in context: inout ProcessContext, _ tables: inout ProfileTables) {}

    /// Records the changed objects, which may cause the next faults on them.
    private mutating func observe(
        _ changes: [TraceEvent.Save.Change], _ event: TraceEvent, in context: ProcessContext, _ tables: ProfileTables
    ) {
        for change in changes {
            guard let name = context.entityName(change.entity) else { continue }
            let tree = tables.tree(of: name)
            let known = invalidations.changes[tree] ?? (time: 0, objects: 0)
            // A change explains at most as many repeated reads as it changed objects. A row that entered the cache
            // during the change has the new values.
            invalidations.changes[tree] = (
                max(known.time, event.start), known.objects &+ change.updated &+ change.deleted
            )
        }
    }

    /// Counts a fault and, if its row had been in memory, determines why it no longer was.
    private mutating func observe(
        _ fault: TraceEvent.Fault, _ event: TraceEvent, in context: inout ProcessContext, _ tables: ProfileTables
    ) {
        guard fault.type != .toMany, fault.error == 0 else { return }
        let unit = context.unit(of: event.scope)
        // The rows that the fault itself read do not displace its own row.
        let own = fault.source == .rowCache ? (bytes: 0, rows: 0) : (bytes: fault.bytes, rows: UInt64(fault.filled))
        let counts = context.summary.counts
        let reuse = reuses.use(
            fault.object, in: unit.id, at: event.start,
            loaded: (counts.bytesRead &- own.bytes) &+ Self.rowOverhead &* (counts.rowsLoaded &- own.rows),
            isLoad: fault.source == .store)
        guard fault.source == .store, !unit.isSetup, let entity = context.entityName(fault.entity) else { return }
        let known = fault.seenBefore ? fault.reuse(event, timesInScope: reuse?.timesInScope ?? 1) ?? reuse : nil
        let reason = known.map { invalidations.reason(for: $0, in: tables.tree(of: entity)) }
        let key = RefaultEvidence.Key(entity: entity, site: context.causeSite(of: event))
        evidence[key, default: RefaultEvidence()].count(fault, event, scope: context.scopes.peek(unit.id)?.key)
        if let known, let reason { evidence[key]?.count(known, reason) }
    }
}

extension TraceEvent.Fault {
    /// The repeated use of the object, from what the row cache remembers about its row; `nil` if that is not recorded.
    fileprivate func reuse(_ event: TraceEvent, timesInScope: UInt64) -> ReuseTracker.Reuse? {
        guard sinceCached > 0 || loadedSince > 0 else { return nil }
        return ReuseTracker.Reuse(
            loadedSince: loadedSince, last: event.start - min(event.start, sinceCached), timesInScope: timesInScope,
            weight: 1)
    }
}

extension RefaultEvidence {
    fileprivate mutating func count(_ fault: TraceEvent.Fault, _ event: TraceEvent, scope: ScopeSummary.Key?) {
        misses &+= 1
        guard fault.seenBefore else { return }
        repeats &+= 1
        time &+= event.ownDuration
        if event.isMainThread { mainThreadTime &+= event.ownDuration }
        bytes &+= fault.bytes
        if let scope { scopes[scope, default: 0] &+= 1 }
    }

    fileprivate mutating func count(_ reuse: ReuseTracker.Reuse, _ reason: Invalidations.Reason) {
        known &+= reuse.weight
        maximumInScope = max(maximumInScope, reuse.timesInScope)
        switch reason {
        case .changed: changed &+= reuse.weight
        case .refreshed(let site):
            refreshed &+= reuse.weight
            refreshSites[site, default: 0] &+= reuse.weight
        case .evicted:
            evicted &+= reuse.weight
            room.record(reuse.loadedSince)
        }
    }
}

extension Profile {
    /// Faults that went to the store, with whether their rows had been in memory.
    var refaults: [(key: RefaultEvidence.Key, evidence: RefaultEvidence)] {
        evidence(of: RefaultDetector.self)
    }
}

/// Faults that went to the store from one line, and those whose row had been in memory before.
struct RefaultEvidence: Sendable {
    /// The objects' entity, and the line at which the faults fired.
    typealias Key = EntitySite

    /// Faults that went to the store.
    var misses: UInt64 = 0
    /// Faults on objects whose row had been in memory, their time in nanoseconds, and their bytes.
    var repeats: UInt64 = 0
    var time: UInt64 = 0
    var mainThreadTime: UInt64 = 0
    var bytes: UInt64 = 0
    /// The most trips to the store for one object in one scope.
    var maximumInScope: UInt64 = 0
    /// Repeats whose last use is known, by cause: a save or merge that changed the entity, a refresh or reset, or an
    /// eviction.
    var known: UInt64 = 0
    var changed: UInt64 = 0
    var refreshed: UInt64 = 0
    var evicted: UInt64 = 0
    /// The lines of these refreshes and resets.
    var refreshSites: [CallSite?: UInt64] = [:]
    /// For evicted rows, the bytes loaded between two loads, which the row cache would have had to hold.
    var room = Distribution()
    var scopes: [ScopeSummary.Key: UInt64] = [:]

    init() {}
}

extension RefaultEvidence: Summed, StartsEmpty {
    static let parts: [SumPart<RefaultEvidence>] = [
        .sum("misses", \.misses), .sum("repeats", \.repeats), .sum("time", \.time),
        .sum("mainThreadTime", \.mainThreadTime), .sum("bytes", \.bytes), .maximum("mostInScope", \.maximumInScope),
        .sum("known", \.known), .sum("changed", \.changed), .sum("refreshed", \.refreshed),
        .sum("evicted", \.evicted), .part("refreshSites", \.refreshSites), .part("room", \.room),
        .part("scopes", \.scopes),
    ]
}

/// Tracks how much is loaded between two uses of an object: the size that a cache of the youngest rows needs for the
/// second use to be a hit.
///
/// With more than ``capacity`` objects, it follows a sample chosen by hash, like Waldspurger and others ("Efficient MRC
/// construction with SHARDS", 2015).
struct ReuseTracker: Sendable {
    static let capacity = 4096

    /// A repeated use of an object.
    struct Reuse {
        /// The amount loaded since the object was, in the caller's unit.
        var loadedSince: UInt64
        /// The time of the previous use, in nanoseconds.
        var last: UInt64
        /// The number of loads of the object in the unit of work, including this one, or 0 outside any.
        var timesInScope: UInt64
        /// The number of objects that each object in the sample stands for.
        var weight: UInt64
    }

    private struct Object: Sendable {
        var last: UInt64
        /// The total amount loaded when the object was.
        var mark: UInt64
        var scope: EventID
        var timesInScope: UInt64
    }

    private var objects: [UInt64: Object] = [:]
    /// The minimum number of leading zeros in the hash of an object in the sample.
    private var leadingZeros = 0

    /// Records a use.
    ///
    /// Returns `nil` if it is the first, or the object is not in the sample.
    ///
    /// - Parameters:
    ///   - loaded: The total amount loaded so far.
    ///   - isLoad: Whether this use loads the object.
    mutating func use(
        _ object: UInt64, in scope: EventID, at time: UInt64, loaded: UInt64, isLoad: Bool
    ) -> Reuse? {
        let hash = StableHash.mix(object)
        guard hash.leadingZeroBitCount >= leadingZeros else { return nil }
        guard let index = objects.index(forKey: hash) else {
            objects[hash] = Object(last: time, mark: loaded, scope: scope, timesInScope: isLoad ? 1 : 0)
            if objects.count > Self.capacity { thin() }
            return nil
        }
        var known = objects.values[index]
        known.timesInScope = (known.scope == scope ? known.timesInScope : 0) &+ (isLoad ? 1 : 0)
        let reuse = Reuse(
            loadedSince: loaded &- min(loaded, known.mark), last: known.last,
            timesInScope: scope == 0 ? 0 : known.timesInScope,
            weight: 1 << leadingZeros)
        (known.last, known.scope) = (time, scope)
        if isLoad { known.mark = loaded }
        objects.values[index] = known
        return reuse
    }

    /// Halves the sample until it fits.
    private mutating func thin() {
        while objects.count > Self.capacity {
            leadingZeros += 1
            objects = objects.filter { $0.key.leadingZeroBitCount >= leadingZeros }
        }
    }
}
