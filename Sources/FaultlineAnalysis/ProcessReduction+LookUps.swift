internal import FaultlineTrace

/// Faults on objects of one entity that no fetch had led to, from one line in one scope, while more may come.
struct OpenLookUps: Sendable {
    struct Key: Sendable, Hashable {
        var scope: EventID
        var thread: UInt32
        var entity: DictionaryID
        var site: CallSite?
    }

    var evidence = LookUpEvidence()
    var objects = DistinctCount()
    var start: UInt64 = 0
    var end: UInt64 = 0

    mutating func add(_ fault: TraceEvent.Fault, _ event: TraceEvent) {
        evidence.trips &+= 1
        evidence.time &+= event.duration
        evidence.mainThreadTime &+= event.isMainThread ? event.duration : 0
        evidence.speeds.add(event.duration)
        objects.insert(fault.object)
        end = max(end, event.end)
    }

    mutating func merge(_ other: OpenLookUps) {
        evidence.merge(other.evidence)
        objects.formUnion(other.objects)
        start = min(start, other.start)
        end = max(end, other.end)
    }
}

extension ProcessReduction {
    /// Adds a fault of an object that no fetch had led to.
    ///
    /// What was in memory before and had to be read again is another matter; see ``RefaultEvidence``.
    mutating func noteLookUp(_ fault: TraceEvent.Fault, _ event: TraceEvent, in tables: inout ProfileTables) {
        guard fault.type == .object, !fault.seenBefore else { return }
        let key = OpenLookUps.Key(
            scope: event.scope, thread: event.thread, entity: fault.entity, site: causeSite(of: event))
        if lookUps.update(key, { $0.add(fault, event) }) != nil { return }
        var open = OpenLookUps()
        open.start = event.start
        open.add(fault, event)
        if let evicted = lookUps.insert(open, for: key) { judge([(evicted.key, evicted.value)], in: &tables) }
    }

    /// Adds look-ups to the evidence if they pass the thresholds, which are those of a loop of fetches.
    mutating func judge(_ open: [(OpenLookUps.Key, OpenLookUps)], in tables: inout ProfileTables) {
        var units: [OpenLookUps.Key: OpenLookUps] = [:]
        for (key, lookUps) in open {
            let unit = unit(of: key.scope)
            guard !unit.isSetup else { continue }
            var merged = key
            merged.scope = unit.id
            if units[merged] == nil { units[merged] = lookUps } else { units[merged]?.merge(lookUps) }
        }
        for (key, lookUps) in units {
            guard lookUps.objects.count >= Self.loopThreshold.count, let entity = dictionary.entity(key.entity)?.name
            else { continue }
            let evidenceKey = LookUpEvidence.Key(entity: entity, site: key.site)
            var evidence = lookUps.evidence
            evidence.occurrences = 1
            evidence.objects = lookUps.objects.count(of: evidence.trips)
            let surroundings = surroundings(
                of: key.scope, for: .lookUps(evidenceKey),
                outside: lookUps.end > lookUps.start ? lookUps.end - lookUps.start : 0)
            evidence.lossyOccurrences = surroundings.lossyOccurrences
            evidence.scopes = surroundings.scopes
            evidence.wallTime = surroundings.wallTime
            tables.lookUps[evidenceKey, default: LookUpEvidence()].merge(evidence)
        }
    }
}
