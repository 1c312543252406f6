internal import FaultlineTrace

/// An object with large values that has not let go of them.
struct OpenHold: Sendable {
    var key: HoldEvidence.Key
    /// The piece of work in which it was filled.
    var scope: EventID
    var bytes: UInt64
    /// The fetch whose result holds the object, if it is one of its rows, and the batches of it that were loaded; 0: none.
    var result: EventID = 0
    var batches: UInt64 = 0
    /// The piece of work, once it has ended.
    var ended: ScopeSummary.Key??
    /// Whether the program itself holds it although that has ended.
    var isOverdue = false
}

/// What of one line is held beyond its scope.
struct OverdueHolds: Sendable {
    var objects: UInt64 = 0
    var bytes: UInt64 = 0
}

extension ProcessReduction {
    /// Remembers an object with large values of which it will be told when it lets go of them.
    mutating func noteHold(_ fault: TraceEvent.Fault, _ event: TraceEvent, in tables: inout ProfileTables) {
        guard fault.isWatched, let entity = dictionary.entity(fault.entity)?.name else { return }
        let unit = unit(of: event.scope)
        // Events of another thread can have come before.
        guard unit.id != 0, !unit.isSetup, earlyReleases.remove(event.id) == nil else { return }
        let key = HoldEvidence.Key(entity: entity, site: causeSite(of: event))
        tables.holds[key, default: HoldEvidence()].objects &+= 1
        var hold = OpenHold(key: key, scope: unit.id, bytes: fault.bytes)
        if fault.relationship == 0, let fetch = fetches.peek(fault.origin), !fetch.isClosed,
            tables.tree(of: tables.fetches[fetch.index].key.shape.entity) == tables.tree(of: entity)
        {
            (hold.result, hold.batches) = (fault.origin, fetch.batches)
            heldInResults[fault.origin, default: []].insert(event.id)
        }
        if let evicted = holds.insert(hold, for: event.id) { forget(evicted.value, of: evicted.key) }
        heldInScopes[unit.id, default: []].insert(event.id)
        if scopes.peek(unit.id)?.wallTime != nil { noteHeld(after: unit.id, in: &tables) }
    }

    mutating func noteRelease(_ release: TraceEvent.Release, in tables: inout ProfileTables) {
        if release.fetch != 0 {
            fetches.update(release.fetch) { $0.isClosed = true } ?? ()
            noteHeld(byResult: release.fetch, in: &tables)
            return
        }
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

    /// Tells what is still held of a scope that ended.
    mutating func noteHeld(after scope: EventID, in tables: inout ProfileTables) {
        let name = scopes.peek(scope)?.key
        for fault in heldInScopes.removeValue(forKey: scope) ?? [] {
            holds.update(fault) { $0.ended = .some(name) } ?? ()
            judge(fault, in: &tables)
        }
    }

    /// Tells what is still held of a result's rows once it does not hold them any more itself.
    mutating func noteHeld(byResult fetch: EventID, in tables: inout ProfileTables) {
        for fault in heldInResults[fetch] ?? [] { judge(fault, in: &tables) }
        if fetches.peek(fetch)?.isClosed ?? true { heldInResults[fetch] = nil }
    }

    /// Counts an object as kept if the work is done and no result holds it.
    private mutating func judge(_ fault: EventID, in tables: inout ProfileTables) {
        guard let hold = holds.peek(fault), let ended = hold.ended, !hold.isOverdue else { return }
        if hold.result != 0, let fetch = fetches.peek(hold.result), !fetch.isClosed {
            // Without batches a result holds all of its objects. The oldest batch goes once the next one is there.
            guard fetch.batchSize > 0, fetch.batches > hold.batches &+ UInt64(TraceEvent.Batch.retained) else { return }
        }
        holds.update(fault) { $0.isOverdue = true } ?? ()
        Self.remove(fault, from: &heldInResults, of: hold.result)
        var all = overdue[hold.key] ?? OverdueHolds()
        all.objects &+= 1
        all.bytes &+= hold.bytes
        overdue[hold.key] = all
        tables.holds[hold.key, default: HoldEvidence()].count(hold, of: all, scope: ended)
    }

    /// Counts what was never let go of.
    mutating func finishHolds(into tables: inout ProfileTables) {
        for (_, hold) in holds.drain() where hold.isOverdue {
            tables.holds[hold.key, default: HoldEvidence()].neverReleased &+= 1
        }
        (heldInScopes, heldInResults, overdue) = ([:], [:], [:])
    }
}

extension HoldEvidence {
    /// Counts an object that is kept beyond its scope, as one of all those of its line.
    fileprivate mutating func count(_ hold: OpenHold, of all: OverdueHolds, scope: ScopeSummary.Key?) {
        kept &+= 1
        bytes &+= hold.bytes
        most = max(most, all.objects)
        mostBytes = max(mostBytes, all.bytes)
        if let scope { scopes[scope, default: 0] &+= 1 }
    }
}
