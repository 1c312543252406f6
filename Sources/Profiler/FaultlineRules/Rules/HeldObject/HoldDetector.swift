internal import FaultlineProfile
internal import FaultlineTrace

/// A realized object with large values.
struct OpenHold: Sendable {
    var key: HoldEvidence.Key
    /// The unit of work in which the object was loaded.
    var scope: EventID
    var bytes: UInt64
    /// The fetch whose result holds the object as one of its rows, or 0, and the number of its batches loaded so far.
    var result: EventID = 0
    var batches: UInt64 = 0
    /// The scope of the unit of work, once it has ended.
    var ended: Ended?
    /// Whether the program itself still holds the object after that.
    var isOverdue = false

    /// A scope that has ended.
    struct Ended {
        var key: ScopeSummary.Key?
        /// The line that opened it.
        var site: CallSite?
    }
}

/// The objects of one line that are held beyond their scope.
struct OverdueHolds: Sendable {
    var objects: UInt64 = 0
    var bytes: UInt64 = 0
}

/// Detects objects with large values that the program holds in memory beyond the work that read them.
struct HoldDetector: EvidenceDetector {
    static let name = "holds"
    static let kinds: Set<EventKind> = [.fault, .batch, .release, .use, .scope]
    private static let capacity = 8192

    var evidence: [HoldEvidence.Key: HoldEvidence] = [:]
    private var holds = BoundedTable<EventID, OpenHold>(capacity: capacity)
    /// Faults whose release event arrived before the fault event.
    private var earlyReleases = BoundedTable<EventID, Bool>(capacity: capacity)
    /// The faults that loaded the objects, by unit of work.
    private var heldInScopes: [EventID: Set<EventID>] = [:]
    /// The faults that loaded the objects, by the fetch whose result holds the objects as its rows.
    private var heldInResults: [EventID: Set<EventID>] = [:]
    private var overdue: [HoldEvidence.Key: OverdueHolds] = [:]

    mutating func observe(_ event: TraceEvent, in context: inout ProcessContext, _ tables: inout ProfileTables) {
        switch event.detail {
        case .fault(let fault): observe(fault, event, in: &context, tables)
        case .batch(let batch): if context.current != nil { evaluateHolds(byResult: batch.fetch, in: context) }
        case .use(let use): if use.state == .closed { evaluateHolds(byResult: use.fetch, in: context) }
        case .release(let release): observe(release, in: context)
        case .scope(let scope): if scope.phase == .end { evaluateHolds(after: event.id, in: context) }
        default: break
        }
    }

    /// Counts the objects that were never released.
    mutating func finish(in context: inout ProcessContext, _ tables: inout ProfileTables) {
        for (_, hold) in holds.drain() where hold.isOverdue {
            evidence[hold.key, default: HoldEvidence()].neverReleased &+= 1
        }
        (heldInScopes, heldInResults, overdue) = ([:], [:], [:])
    }

    /// Records an object with large values, for which a release event will follow.
    private mutating func observe(
        _ fault: TraceEvent.Fault, _ event: TraceEvent, in context: inout ProcessContext, _ tables: ProfileTables
    ) {
        guard fault.isWatched, let entity = context.entityName(fault.entity) else { return }
        let unit = context.unit(of: event.scope)
        // Events of another thread can arrive first.
        guard unit.id != 0, !unit.isSetup, earlyReleases.remove(event.id) == nil else { return }
        let key = HoldEvidence.Key(entity: entity, site: context.causeSite(of: event))
        evidence[key, default: HoldEvidence()].objects &+= 1
        var hold = OpenHold(key: key, scope: unit.id, bytes: fault.bytes)
        if fault.relationship == 0, let fetch = context.fetches.peek(fault.origin), !fetch.isClosed,
            tables.tree(of: tables.fetches[fetch.index].key.shape.entity) == tables.tree(of: entity)
        {
            (hold.result, hold.batches) = (fault.origin, fetch.batches)
            heldInResults[fault.origin, default: []].insert(event.id)
        }
        if let evicted = holds.insert(hold, for: event.id) { forget(evicted.value, of: evicted.key) }
        heldInScopes[unit.id, default: []].insert(event.id)
        if context.scopes.peek(unit.id)?.wallTime != nil { evaluateHolds(after: unit.id, in: context) }
    }

    private mutating func observe(_ release: TraceEvent.Release, in context: ProcessContext) {
        if release.fetch != 0 { return evaluateHolds(byResult: release.fetch, in: context) }
        guard let hold = holds.remove(release.fault) else {
            _ = earlyReleases.insert(true, for: release.fault)
            return
        }
        forget(hold, of: release.fault)
    }

    private mutating func forget(_ hold: OpenHold, of fault: EventID) {
        if hold.isOverdue {
            overdue[hold.key]?.objects &-= 1
            overdue[hold.key]?.bytes &-= hold.bytes
        }
        Self.remove(fault, from: &heldInScopes, of: hold.scope)
        Self.remove(fault, from: &heldInResults, of: hold.result)
    }

    private static func remove(_ fault: EventID, from holds: inout [EventID: Set<EventID>], of key: EventID) {
        holds[key]?.remove(fault)
        if holds[key]?.isEmpty == true { holds[key] = nil }
    }

    /// Evaluates the objects that are still held when a scope ends.
    private mutating func evaluateHolds(after scope: EventID, in context: ProcessContext) {
        let open = context.scopes.peek(scope)
        let ended = OpenHold.Ended(key: open?.key, site: open?.site)
        for fault in heldInScopes.removeValue(forKey: scope) ?? [] {
            holds.update(fault) { $0.ended = ended } ?? ()
            evaluate(fault, in: context)
        }
    }

    /// Evaluates the objects of a result once the result no longer holds them.
    private mutating func evaluateHolds(byResult fetch: EventID, in context: ProcessContext) {
        guard let held = heldInResults[fetch] else { return }
        for fault in held { evaluate(fault, in: context) }
        if context.fetches.read(fetch, { $0.isClosed }) ?? true { heldInResults[fetch] = nil }
    }

    /// Counts an object as overdue if the work is done and no result holds it.
    private mutating func evaluate(_ fault: EventID, in context: ProcessContext) {
        // Most objects belong to work that is still going on.
        guard holds.read(fault, { $0.ended != nil && !$0.isOverdue && !Self.isHeldByResult($0, context) }) == true,
            let hold = holds.peek(fault), let ended = hold.ended
        else { return }
        holds.update(fault) { $0.isOverdue = true } ?? ()
        Self.remove(fault, from: &heldInResults, of: hold.result)
        var all = overdue[hold.key] ?? OverdueHolds()
        all.objects &+= 1
        all.bytes &+= hold.bytes
        overdue[hold.key] = all
        evidence[hold.key, default: HoldEvidence()].count(hold, of: all, after: ended)
    }

    private static func isHeldByResult(_ hold: borrowing OpenHold, _ context: borrowing ProcessContext) -> Bool {
        guard hold.result != 0 else { return false }
        let batches = hold.batches
        // Without batches, a result holds all of its objects. With batches, a new batch displaces the oldest one.
        return context.fetches.read(hold.result) { fetch in
            !fetch.isClosed
                && (fetch.batchSize == 0 || fetch.batches <= batches &+ UInt64(TraceEvent.Batch.retained))
        } ?? false
    }
}

extension HoldEvidence {
    /// Counts an object that is held beyond its scope, with the line's other overdue objects.
    fileprivate mutating func count(_ hold: OpenHold, of all: OverdueHolds, after ended: OpenHold.Ended) {
        kept &+= 1
        bytes &+= hold.bytes
        most = max(most, all.objects)
        maximumBytes = max(maximumBytes, all.bytes)
        if let scope = ended.key { scopes[scope, default: 0] &+= 1 }
        if let site = ended.site { openings[site, default: 0] &+= 1 }
    }
}

extension Profile {
    /// Large objects that stayed realized after their scope.
    var holds: [(key: HoldEvidence.Key, evidence: HoldEvidence)] {
        evidence(of: HoldDetector.self)
    }
}

/// Objects with large values that stayed realized after the end of the scope that read them.
struct HoldEvidence: Sendable {
    /// The objects' entity, and the line that loaded them.
    typealias Key = EntitySite

    /// The number of objects that were loaded in a scope.
    var objects: UInt64 = 0
    /// The number of objects that stayed realized beyond it, and their bytes.
    var kept: UInt64 = 0
    var bytes: UInt64 = 0
    /// The most objects that one process held at once in this way, and their bytes.
    var most: UInt64 = 0
    var maximumBytes: UInt64 = 0
    /// The number of objects that were still realized at the end of the trace.
    var neverReleased: UInt64 = 0
    /// The scopes that the objects outlived.
    var scopes: [ScopeSummary.Key: UInt64] = [:]
    /// The lines that opened these scopes.
    var openings: [CallSite: UInt64] = [:]

    init() {}
}

extension HoldEvidence: Summed, StartsEmpty {
    static let parts: [SumPart<HoldEvidence>] = [
        .sum("objects", \.objects), .sum("kept", \.kept), .sum("bytes", \.bytes), .maximum("most", \.most),
        .maximum("mostBytes", \.maximumBytes), .sum("neverReleased", \.neverReleased), .part("scopes", \.scopes),
        .part("openings", \.openings),
    ]
}
