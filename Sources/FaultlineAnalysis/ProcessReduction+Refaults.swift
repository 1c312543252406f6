internal import FaultlineTrace

/// What made objects of a tree faults again, or may have changed them.
struct Invalidations: Sendable {
    /// When objects were changed last, and how many since then were not read again, by tree.
    var changes: [String: (time: UInt64, objects: UInt64)] = [:]
    /// When objects were refreshed last and where, by tree; under the empty name those of all.
    var refreshes: [String: (time: UInt64, site: CallSite?)] = [:]

    /// Takes a change of a tree since a time for the reason why an object had to be read again.
    mutating func takeChange(of tree: String, since time: UInt64) -> Bool {
        guard let change = changes[tree], change.time >= time, change.objects > 0 else { return false }
        changes[tree]?.objects -= 1
        return true
    }
}

extension ProcessReduction {
    /// What a row takes in memory besides its values, in bytes.
    static let rowOverhead: UInt64 = 64

    /// Remembers what objects were changed or refreshed, from which the next fault of them can come.
    mutating func noteInvalidation(_ event: TraceEvent, in tables: ProfileTables) {
        let entities: [TraceEvent.Save.Change]
        switch event.detail {
        case .save(let save): entities = save.entities
        case .merge(let merge): entities = merge.entities
        case .refresh(let refresh):
            let tree = dictionary.entity(refresh.entity).map { tables.tree(of: $0.name) } ?? ""
            if event.start >= invalidations.refreshes[tree]?.time ?? 0 {
                invalidations.refreshes[tree] = (event.start, callSite(of: event))
            }
            return
        default: return
        }
        for entity in entities {
            guard let name = dictionary.entity(entity.entity)?.name else { continue }
            let tree = tables.tree(of: name)
            let known = invalidations.changes[tree] ?? (time: 0, objects: 0)
            // No more objects are read again for it than it changed.
            invalidations.changes[tree] = (
                max(known.time, event.end), known.objects &+ entity.updated &+ entity.deleted
            )
        }
    }

    /// Counts a fault, and tells why its row was not in memory any more if it had been.
    mutating func noteUse(_ fault: TraceEvent.Fault, _ event: TraceEvent, in tables: inout ProfileTables) {
        guard fault.type != .toMany, fault.error == 0 else { return }
        let unit = unit(of: event.scope)
        let reuse = reuses.use(
            fault.object, in: unit.id, at: event.start,
            loaded: summary.counts.bytesRead &+ Self.rowOverhead &* summary.counts.rowsLoaded,
            isLoad: fault.source == .store)
        guard fault.source == .store, !unit.isSetup, let entity = dictionary.entity(fault.entity)?.name else { return }
        let key = RefaultEvidence.Key(entity: entity, site: causeSite(of: event))
        var evidence = RefaultEvidence()
        evidence.misses = 1
        if fault.seenBefore {
            evidence.repeats = 1
            evidence.time = event.duration
            evidence.mainThreadTime = event.isMainThread ? event.duration : 0
            evidence.bytes = fault.bytes
            evidence.scopes = scopes.peek(unit.id)?.key.map { [$0: 1] } ?? [:]
            if let reuse { explain(reuse, tree: tables.tree(of: entity), &evidence) }
        }
        tables.refaults[key, default: RefaultEvidence()].merge(evidence)
    }

    private mutating func explain(_ reuse: ReuseTracker.Reuse, tree: String, _ evidence: inout RefaultEvidence) {
        evidence.known = reuse.weight
        evidence.mostInScope = reuse.timesInScope
        let refreshes = [invalidations.refreshes[tree], invalidations.refreshes[""]].compactMap { $0 }
        if invalidations.takeChange(of: tree, since: reuse.last) {
            evidence.changed = reuse.weight
        } else if let refresh = refreshes.max(by: { $0.time < $1.time }), refresh.time >= reuse.last {
            evidence.refreshed = reuse.weight
            evidence.refreshSites[refresh.site] = reuse.weight
        } else {
            evidence.evicted = reuse.weight
            evidence.room.record(reuse.loadedSince)
        }
    }
}
