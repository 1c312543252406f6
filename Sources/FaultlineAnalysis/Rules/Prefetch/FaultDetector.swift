internal import FaultlineTrace

/// An open group of faults of one kind in one scope on objects of one fetch.
struct OpenFaults: OpenGroup {
    struct Key: ScopedKey {
        var scope: EventID
        var origin: EventID
        /// The relationship's name, or 0 if there is none.
        var relationship: DictionaryID
        /// The relationship's entity or, without a relationship, the object's.
        var entity: DictionaryID
    }

    /// The maximum number of lines that are counted separately.
    ///
    /// Other lines are counted without a line.
    static let maximumSites = 8

    /// The evidence that these faults add, except figures that count once for a scope or a fetch.
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
        let isKnown = evidence.places[site] != nil || evidence.places.count < Self.maximumSites
        evidence.places[isKnown ? site : nil, default: TripSum()].add(event.duration)
        evidence.speeds.add(event.duration)
        evidence.add(EventSample(process: event.process, event: event.id, duration: event.duration))
        objects.insert(fault.object)
        end = max(end, event.end)
    }

    mutating func merge(_ other: OpenFaults) {
        evidence.merge(other.evidence)
        objects.formUnion(other.objects)
        end = max(end, other.end)
    }
}

/// Detects faults on the objects of one fetch that went to the store one by one.
struct FaultDetector: EvidenceDetector {
    static let name = "faults"
    static let kinds: Set<EventKind> = [.fault]
    static let wallTime: (any WritableKeyPath<FaultEvidence, UInt64> & Sendable)? = \FaultEvidence.wallTime
    static let capacity = 2048

    /// The minimum number of round trips, and of distinct objects, for faults of one kind on one fetch's objects to
    /// count.
    static let threshold = Threshold(
        "R01", "minimumTrips", 5, .count, "minimum round trips, and objects, of faults on one fetch's objects")

    var evidence: [FaultEvidence.Key: FaultEvidence] = [:]
    private(set) var open = BoundedTable<OpenFaults.Key, OpenFaults>(capacity: capacity)

    mutating func observe(_ event: TraceEvent, in context: inout ProcessContext, _ tables: inout ProfileTables) {
        // Delete rules follow relationships. The program asked only for the deletion.
        guard case .fault(let fault) = event.detail, fault.isTrip else { return }
        guard fault.origin != 0 else {
            context.summary.counts.faultTripsWithoutOrigin &+= 1
            return
        }
        let key = OpenFaults.Key(
            scope: event.scope, origin: fault.origin, relationship: fault.relationship,
            entity: fault.owner)
        let site = context.causeSite(of: event)
        if open.update(key, { $0.add(fault, event, site: site) }) == nil {
            var one = OpenFaults()
            one.add(fault, event, site: site)
            if let evicted = open.insert(one, for: key) { evaluate([evicted], in: &context, tables) }
        }
    }

    mutating func finish(in context: inout ProcessContext, _ tables: inout ProfileTables) {
        evaluate(open.drain(), in: &context, tables)
    }

    /// Adds groups of faults to the evidence if they pass the thresholds.
    private mutating func evaluate(
        _ open: [(key: OpenFaults.Key, value: OpenFaults)], in context: inout ProcessContext, _ tables: ProfileTables
    ) {
        for (key, faults) in context.units(of: open) {
            guard let fetch = context.fetches.peek(key.origin) else {
                context.summary.counts.faultTripsWithUnknownOrigin &+= faults.evidence.trips
                continue
            }
            let maximumAtOneSite = faults.evidence.places.values.map(\.trips).max() ?? 0
            guard fetch.rows >= 2, faults.objects.count >= Self.threshold.count,
                maximumAtOneSite >= Self.threshold.count, !context.isSetup(fetch.scope)
            else { continue }
            add(faults, key, fetch, in: &context, tables)
        }
    }

    private mutating func add(
        _ open: OpenFaults, _ key: OpenFaults.Key, _ fetch: OpenFetch, in context: inout ProcessContext,
        _ tables: ProfileTables
    ) {
        let entity = context.entityName(key.entity) ?? ""
        let subject = context.dictionary.name(key.relationship).map {
            FaultEvidence.Key.Subject.relationship(entity: entity, name: $0)
        }
        let evidenceKey = FaultEvidence.Key(
            subject: subject ?? .target(entity: entity), fetch: tables.fetches[fetch.index].key)
        var found = open.evidence
        found.occurrences = 1
        found.objects = UInt64(open.objects.count)
        let surroundings = surroundings(
            of: key.scope, for: evidenceKey, outside: open.end > fetch.start ? open.end - fetch.start : 0,
            in: &context)
        found.lossyOccurrences = surroundings.lossyOccurrences
        found.scopes = surroundings.scopes
        found.wallTime = surroundings.wallTime
        // The rows of a fetch count once, even if several groups of faults belong to it.
        let reference = EvidenceReference(Self.self, evidenceKey)
        context.fetches.update(key.origin) { fetch in
            if fetch.countedRows[reference] == nil { found.fetches[fetch.batchSize] = 1 }
            found.originRows = fetch.loadedRows - min(fetch.loadedRows, fetch.countedRows[reference] ?? 0)
            fetch.countedRows[reference] = fetch.loadedRows
        } ?? ()
        add(found, to: evidenceKey)
    }
}

extension TraceEvent.Fault {
    /// Whether the fault was a round trip to the store for an object that the program asked for.
    var isTrip: Bool { source == .store && error == 0 && !isDeleting }
}

extension Profile {
    /// Faults that went to the store one by one.
    public var faults: [(key: FaultEvidence.Key, evidence: FaultEvidence)] {
        evidence(of: FaultDetector.self)
    }
}
