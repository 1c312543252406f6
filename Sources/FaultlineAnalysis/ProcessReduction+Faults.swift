internal import FaultlineTrace

/// Faults of one kind in one scope on objects of one fetch, while more may come.
struct OpenFaults: Sendable {
    struct Key: Sendable, Hashable {
        var scope: EventID
        var origin: EventID
        /// The relationship's name; 0: none.
        var relationship: DictionaryID
        /// The relationship's entity, or without a relationship that of the object.
        var entity: DictionaryID
    }

    /// Places that are told apart; what fires elsewhere is counted without a place.
    static let maximumPlaces = 8

    /// What they add to the evidence, but for what is counted once for a scope or a fetch.
    var evidence = FaultEvidence()
    var objects = DistinctCount()
    var end: UInt64 = 0

    mutating func add(_ fault: TraceEvent.Fault, _ event: TraceEvent, site: CallSite?) {
        evidence.trips &+= 1
        evidence.time &+= event.duration
        evidence.mainThreadTime &+= event.isMainThread ? event.duration : 0
        evidence.filled &+= UInt64(fault.filled)
        evidence.bytes &+= fault.bytes
        evidence.seenBefore &+= fault.seenBefore ? 1 : 0
        evidence.types[fault.type, default: 0] &+= 1
        let isKnown = evidence.places[site] != nil || evidence.places.count < Self.maximumPlaces
        evidence.places[isKnown ? site : nil, default: FaultEvidence.Place()].add(event.duration)
        evidence.speeds[FaultEvidence.speed(of: event.duration), default: FaultEvidence.Place()].add(event.duration)
        evidence.add(FaultEvidence.Sample(process: event.process, event: event.id, duration: event.duration))
        objects.insert(fault.object)
        end = max(end, event.end)
    }

    mutating func merge(_ other: OpenFaults) {
        evidence.merge(other.evidence)
        objects.formUnion(other.objects)
        end = max(end, other.end)
    }
}

/// Where objects of a fetch were read first, and what they are, by numbers: lines and names are slow to look up.
struct FirstReads: Sendable, Hashable {
    /// The fetch's place in the tables.
    var fetch: Int
    var stack: DictionaryID
    var entity: DictionaryID
}

extension ProcessReduction {
    /// Round trips, and distinct objects, from which on faults of one kind on one fetch's objects count.
    static let faultThreshold = Threshold(
        "R01", "minimumTrips", 5, .count, "minimum round trips, and objects, of faults on one fetch's objects")

    mutating func add(_ fault: TraceEvent.Fault, _ event: TraceEvent, to tables: inout ProfileTables) {
        noteFired(fault, event, in: &tables)
        noteServed(fault, event, in: tables)
        noteUse(fault, event, in: &tables)
        noteHold(fault, event, in: &tables)
        // What the row cache gave was read before, by what filled the cache.
        guard fault.source != .rowCache else { return }
        summary.counts.bytesRead &+= fault.bytes
        summary.counts.faultTrips &+= 1
        addRows(UInt64(fault.filled), scope: event.scope, in: &tables)
        claimTrips(1, scope: event.scope, in: &tables)
        guard fault.source == .store, fault.error == 0 else { return }
        let load = Load(rows: max(1, UInt64(fault.filled)), bytes: fault.bytes, duration: event.duration)
        if event.tellsLoad { tables.insert(load, hash: StableHash.event(process: event.process, id: event.id)) }
        // Delete rules go where they lead; what the program asked for is the deletion.
        guard !fault.isDeleting else { return }
        guard fault.origin != 0 else {
            summary.counts.faultTripsWithoutOrigin &+= 1
            noteLookUp(fault, event, in: &tables)
            return
        }
        let key = OpenFaults.Key(
            scope: event.scope, origin: fault.origin, relationship: fault.relationship,
            entity: fault.relationship == 0 ? fault.entity : fault.relationshipEntity)
        let site = causeSite(of: event)
        if faults.update(key, { $0.add(fault, event, site: site) }) == nil {
            var open = OpenFaults()
            open.add(fault, event, site: site)
            if let evicted = faults.insert(open, for: key) { judge([(evicted.key, evicted.value)], in: &tables) }
        }
    }

    /// Remembers which relationships fire on a fetch's objects, from which key paths are put together, and where the
    /// objects themselves do, which is where they are read first.
    private mutating func noteFired(_ fault: TraceEvent.Fault, _ event: TraceEvent, in tables: inout ProfileTables) {
        guard let index = fetches.update(fault.origin, { $0.index }) else { return }
        guard fault.relationship != 0 else {
            if fault.type == .object {
                reads[FirstReads(fetch: index, stack: event.stack, entity: fault.entity), default: 0] &+= 1
            }
            return
        }
        guard let name = dictionary.name(fault.relationship),
            let entity = dictionary.entity(fault.relationshipEntity)?.name
        else { return }
        let edge = FetchProfile.Edge(entity: entity, name: name)
        tables.changeFetch(index) {
            $0.firedRelationships[edge, default: 0] &+= 1
            if !fault.seenBefore { $0.firstFirings[edge, default: 0] &+= 1 }
            if fault.type == .toMany { $0.askedToMany[edge, default: 0] &+= 1 }
        }
    }

    /// Remembers a fault that another fetch than that of its object has loaded the row for.
    private mutating func noteServed(_ fault: TraceEvent.Fault, _ event: TraceEvent, in tables: ProfileTables) {
        guard fault.source == .rowCache, fault.type != .toMany, let entity = dictionary.entity(fault.entity)?.name
        else { return }
        let tree = tables.tree(of: entity)
        if let fetch = fetches.peek(fault.origin) {
            let own = tables.fetches[fetch.index].key.shape
            if own.resultType == "objects", tables.tree(of: own.entity) == tree { return }
        }
        lastServed[tree] = max(lastServed[tree] ?? 0, event.start)
    }

    /// Adds everything that is still open to the tables.
    mutating func finish(into tables: inout ProfileTables) {
        judge(faults.drain().map { ($0.key, $0.value) }, in: &tables)
        judge(loops.drain().map { ($0.key, $0.value) }, in: &tables)
        judge(lookUps.drain().map { ($0.key, $0.value) }, in: &tables)
        for open in saves.drain() { judge(open.value, open.key, in: &tables) }
        for open in repeats.drain() { judge(open.value, open.key, in: &tables) }
        finishWaits(into: &tables)
        finishBlocks(into: &tables)
        finishHolds(into: &tables)
        finishSizes(into: &tables)
        for (index, start) in firstUnused {
            let tree = tables.tree(of: tables.fetches[index].key.shape.entity)
            if let served = lastServed[tree], served > start { tables.changeFetch(index) { $0.hasServedOthers = true } }
        }
        firstUnused = [:]
        // Each still finds those around it; sums do not hang on the order. What one had at most is known after that.
        for scope in scopes.values { close(scope, in: &tables) }
        for scope in scopes.drain() { noteMost(of: scope.value, in: &tables) }
        _ = fetches.drain()
        for (place, count) in reads {
            let site = stackSite(of: place.stack)
            let entity = dictionary.entity(place.entity)?.name
            tables.changeFetch(place.fetch) {
                $0.readSites[site, default: 0] &+= count
                if let entity { $0.readEntities[entity, default: 0] &+= count }
            }
        }
        reads = [:]
    }

    /// Adds groups of faults to the evidence if they pass the thresholds, and lets go of them.
    private mutating func judge(_ open: [(OpenFaults.Key, OpenFaults)], in tables: inout ProfileTables) {
        var units: [OpenFaults.Key: OpenFaults] = [:]
        for (key, faults) in open {
            let unit = unit(of: key.scope)
            guard !unit.isSetup else { continue }
            var merged = key
            merged.scope = unit.id
            if units[merged] == nil { units[merged] = faults } else { units[merged]?.merge(faults) }
        }
        for (key, faults) in units {
            guard let fetch = fetches.peek(key.origin) else {
                summary.counts.faultTripsWithUnknownOrigin &+= faults.evidence.trips
                continue
            }
            let mostAtOnePlace = faults.evidence.places.values.map(\.trips).max() ?? 0
            guard fetch.rows >= 2, faults.objects.count >= Self.faultThreshold.count,
                mostAtOnePlace >= Self.faultThreshold.count,
                !isSetup(fetch.scope)
            else { continue }
            add(faults, key, fetch, to: &tables)
        }
    }

    private mutating func add(
        _ open: OpenFaults, _ key: OpenFaults.Key, _ fetch: OpenFetch, to tables: inout ProfileTables
    ) {
        let entity = dictionary.entity(key.entity)?.name ?? ""
        let subject = dictionary.name(key.relationship).map {
            FaultEvidence.Key.Subject.relationship(entity: entity, name: $0)
        }
        let evidenceKey = FaultEvidence.Key(
            subject: subject ?? .target(entity: entity), fetch: tables.fetches[fetch.index].key)
        var evidence = open.evidence
        evidence.occurrences = 1
        evidence.objects = UInt64(open.objects.count)
        addSurroundings(of: key, open, fetch, evidenceKey, to: &evidence)
        tables.faults[evidenceKey, default: FaultEvidence()].merge(evidence)
    }

    /// Adds what counts once for a scope or a fetch, however many groups of faults belong to it.
    private mutating func addSurroundings(
        of key: OpenFaults.Key, _ open: OpenFaults, _ fetch: OpenFetch, _ evidenceKey: FaultEvidence.Key,
        to evidence: inout FaultEvidence
    ) {
        let surroundings = surroundings(
            of: key.scope, for: .faults(evidenceKey), outside: open.end > fetch.start ? open.end - fetch.start : 0)
        evidence.lossyOccurrences = surroundings.lossyOccurrences
        evidence.scopes = surroundings.scopes
        evidence.wallTime = surroundings.wallTime
        fetches.update(key.origin) { fetch in
            if fetch.countedRows[evidenceKey] == nil { evidence.fetches[fetch.batchSize] = 1 }
            evidence.originRows = fetch.loadedRows - min(fetch.loadedRows, fetch.countedRows[evidenceKey] ?? 0)
            fetch.countedRows[evidenceKey] = fetch.loadedRows
        } ?? ()
    }
}
