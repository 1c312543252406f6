internal import FaultlineTrace

/// An open group of faults on objects of one entity that did not come from a fetch, from one line in one scope.
struct OpenLookUps: OpenGroup {
    struct Key: ScopedKey {
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

/// Detects objects that are looked up one by one, without a fetch.
struct LookUpDetector: EvidenceDetector {
    static let name = "lookUps"
    static let kinds: Set<EventKind> = [.fault]
    static let wallTime: (any WritableKeyPath<LookUpEvidence, UInt64> & Sendable)? = \LookUpEvidence.wallTime
    static let capacity = 2048

    var evidence: [LookUpEvidence.Key: LookUpEvidence] = [:]
    private var open = BoundedTable<OpenLookUps.Key, OpenLookUps>(capacity: capacity)

    /// Adds a fault on an object that did not come from a fetch.
    ///
    /// Objects that had been in memory and are read again are ``RefaultEvidence``.
    mutating func observe(_ event: TraceEvent, in context: inout ProcessContext, _ tables: inout ProfileTables) {
        guard case .fault(let fault) = event.detail, fault.isTrip, fault.origin == 0, fault.type == .object,
            !fault.seenBefore
        else { return }
        let key = OpenLookUps.Key(
            scope: event.scope, thread: event.thread, entity: fault.entity, site: context.causeSite(of: event))
        if open.update(key, { $0.add(fault, event) }) != nil { return }
        var one = OpenLookUps()
        one.start = event.start
        one.add(fault, event)
        if let evicted = open.insert(one, for: key) { evaluate([evicted], in: &context) }
    }

    mutating func finish(in context: inout ProcessContext, _ tables: inout ProfileTables) {
        evaluate(open.drain(), in: &context)
    }

    /// Adds look-ups to the evidence if they pass the thresholds of a fetch loop.
    private mutating func evaluate(
        _ open: [(key: OpenLookUps.Key, value: OpenLookUps)], in context: inout ProcessContext
    ) {
        for (key, lookUps) in context.units(of: open) {
            guard lookUps.objects.count >= LoopDetector.threshold.count, let entity = context.entityName(key.entity)
            else { continue }
            let evidenceKey = LookUpEvidence.Key(entity: entity, site: key.site)
            var found = lookUps.evidence
            found.occurrences = 1
            found.objects = lookUps.objects.count(of: found.trips)
            let surroundings = surroundings(
                of: key.scope, for: evidenceKey,
                outside: lookUps.end > lookUps.start ? lookUps.end - lookUps.start : 0, in: &context)
            found.lossyOccurrences = surroundings.lossyOccurrences
            found.scopes = surroundings.scopes
            found.wallTime = surroundings.wallTime
            add(found, to: evidenceKey)
        }
    }
}

extension Profile {
    /// Objects that were looked up one by one.
    public var lookUps: [(key: LookUpEvidence.Key, evidence: LookUpEvidence)] {
        evidence(of: LookUpDetector.self)
    }
}
