internal import FaultlineFindings
internal import FaultlineProfile
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
        evidence.executions &+= 1
        evidence.time &+= event.ownDuration
        evidence.mainThreadTime &+= event.isMainThread ? event.ownDuration : 0
        evidence.speeds.add(event.ownDuration)
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
    static let capacity = 2048

    var evidence: [LookUpEvidence.Key: LookUpEvidence] = [:]
    private var open = BoundedTable<OpenLookUps.Key, OpenLookUps>(capacity: capacity)
    /// The relationships that filled objects, of owners that did not come from a fetch either.
    private var walked = BoundedTable<Walked, String>(capacity: capacity)

    /// Objects of an entity that a thread reached by a relationship in a scope.
    private struct Walked: Hashable {
        var scope: EventID
        var thread: UInt32
        var entity: String
    }

    /// Adds a fault on an object that did not come from a fetch.
    ///
    /// Objects that had been in memory and are read again are ``RefaultEvidence``.
    mutating func observe(_ event: TraceEvent, in context: inout ProcessContext, _ tables: inout ProfileTables) {
        guard case .fault(let fault) = event.detail, fault.isTrip, fault.origin == 0 else { return }
        if fault.type == .toMany { noteMembers(of: fault, event, in: context) }
        guard fault.type == .object, !fault.seenBefore else { return }
        let key = OpenLookUps.Key(
            scope: event.scope, thread: event.thread, entity: fault.entity, site: context.causeSite(of: event))
        if open.update(key, { $0.add(fault, event) }) != nil { return }
        var one = OpenLookUps()
        one.start = event.start
        one.add(fault, event)
        if let evicted = open.insert(one, for: key) { evaluate([evicted], in: &context) }
    }

    private mutating func noteMembers(of fault: TraceEvent.Fault, _ event: TraceEvent, in context: ProcessContext) {
        guard let owner = context.dictionary.entity(fault.entity),
            let name = context.dictionary.name(fault.relationship),
            let destination = owner.property(name)?.destination, destination != owner.name
        else { return }
        let key = Walked(scope: event.scope, thread: event.thread, entity: destination)
        if walked.peek(key) == nil { _ = walked.insert("\(owner.name).\(name)", for: key) }
    }

    /// The path from an object that was looked up to the members that were loaded, such as `Board.columns.cards`.
    private func path(to entity: String, _ key: OpenLookUps.Key) -> String? {
        var path: String?
        var (end, seen) = (entity, Set<String>())
        while seen.insert(end).inserted,
            let step = walked.peek(Walked(scope: key.scope, thread: key.thread, entity: end))
        {
            let parts = step.split(separator: ".", maxSplits: 1).map(String.init)
            path = path.map { step + "." + $0.split(separator: ".").dropFirst().joined(separator: ".") } ?? step
            end = parts[0]
        }
        return path
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
            if let path = path(to: entity, key) { found.paths = [path] }
            found.objects = lookUps.objects.count(of: found.executions)
            let surroundings = surroundings(
                of: key.scope, for: evidenceKey,
                outside: lookUps.end > lookUps.start ? lookUps.end - lookUps.start : 0, in: &context)
            found.complete(in: surroundings)
            add(found, to: evidenceKey)
        }
    }
}

extension Profile {
    /// Objects that were looked up one by one.
    var lookUps: [(key: LookUpEvidence.Key, evidence: LookUpEvidence)] {
        evidence(of: LookUpDetector.self)
    }
}

/// Objects that went to the store one by one without a fetch, because the program looked them up by their IDs.
///
/// It includes only look-ups that passed the thresholds within one scope.
struct LookUpEvidence: RunEvidence {
    /// The objects' entity, and the line at which their faults fired.
    typealias Key = EntitySite

    var runs = RunSums()
    /// The number of distinct objects.
    var objects: UInt64 = 0
    /// The durations of the trips.
    var speeds = Speeds()
    /// The paths on which the program reached them from an object that it had looked up; none if it looked up each.
    var paths: Set<String> = []
}

extension LookUpEvidence {
    static let parts: [SumPart<LookUpEvidence>] = [
        .members(\.runs, named: ["executions": "trips"]), .sum("objects", \.objects), .part("speeds", \.speeds),
        .union("paths", \.paths),
    ]
}

/// Objects that are looked up by their IDs, with a trip to the store for each.
extension FetchLoopRule {
    /// The first path to the objects: the entity at its start, and the key path.
    private static func path(_ evidence: LookUpEvidence) -> (entity: String, keyPath: String)? {
        guard let parts = evidence.paths.min()?.split(separator: ".", maxSplits: 1), parts.count == 2 else {
            return nil
        }
        return (String(parts[0]), String(parts[1]))
    }

    private static func title(_ key: LookUpEvidence.Key, _ evidence: LookUpEvidence) -> Wording {
        guard let path = path(evidence) else {
            return "Fetch the objects of \(entity: key.entity) at once by their IDs, with IN"
        }
        return "Fetch the \(entity: path.entity) by its ID, and prefetch \(property: path.keyPath)"
    }

    private static func origin(_ evidence: LookUpEvidence) -> Wording {
        guard let path = path(evidence) else {
            return
                "they were looked up by their IDs, with \(code: "object(with:)") or \(code: "existingObject(with:)")."
        }
        return
            "the program looked up an object of \(entity: path.entity) by its ID and went on to \(property: path.keyPath)."
    }

    private static func code(
        _ key: LookUpEvidence.Key, _ evidence: LookUpEvidence, _ store: StoreCode
    ) -> [String] {
        guard let path = path(evidence) else { return store.lookUp(key.entity) }
        return store.objects(path.entity, ids: "[id]", prefetching: path.keyPath)
    }

    func lookUp(
        _ key: LookUpEvidence.Key, _ evidence: LookUpEvidence, _ profile: Profile, _ costs: CostModel
    ) -> Finding {
        let occurrences = Double(max(1, evidence.occurrences))
        let objects = Double(evidence.objects)
        let trips = (objects / occurrences / Self.valuesAtOnce).rounded(.up) * occurrences
        let (time, estimate) = (evidence.speeds.typicalTime, costs.store)
        let saving = estimate.range(
            usual: CostModel.listed.value, least: CostModel.maximumListed.value, most: CostModel.minimumListed.value
        ) { line, value in
            time - line.cost(trips: trips, rows: objects) - objects * value
        }
        var finding = Finding(
            rule: id, ruleName: name, title: Self.title(key, evidence),
            change: key.site,
            severity: min(
                Severity.warning,
                Severity.of(
                    Double(evidence.executions) / occurrences, warning: LoopDetector.threshold.value, error: 250)),
            fix: evidence.paths.isEmpty
                ? "Before the objects are read, fetch them by their IDs. This fetch also fills the objects that "
                    + "\(code: "object(with:)") has already returned."
                : "Fetch the object by its ID instead of looking it up, and prefetch what the program reads of its members, too.",
            code: Self.code(key, evidence, StoreCode(profile)),
            saving: Saving(time: Saving.Range(saving).limited(to: Double(evidence.time))),
            confidence: min(.medium("the cost of a look-up is an average"), estimate.confidence(in: saving)),
            signature: [id, "self", key.entity, key.site?.function ?? ""].joined(separator: "|"))
        finding.saving.trips = Int64(clamping: evidence.executions) - Int64(saturating: trips)
        finding.seenAt = [Finding.Sighting(site: key.site, count: evidence.executions, time: evidence.time)]
        finding.scopes = evidence.scopes.names
        let found = DistinctCount.words(evidence.objects, over: evidence.occurrences, "object")
        finding.explanation = [
            "\(entity: key.entity) objects were loaded one by one: \(trips: evidence.executions) for \(found)\(evidence.onOccasions), "
                + "\(duration: evidence.time) in all. No fetch had loaded them: " + Self.origin(evidence)
        ]
        finding.evidence = [
            Evidence("trips", evidence.executions, .trips), Evidence("objects", evidence.objects, .count),
            Evidence("occurrences", evidence.occurrences, .count),
            Evidence("faultTime", evidence.time, .nanoseconds), Evidence("wallTime", evidence.wallTime, .nanoseconds),
        ]
        finding.claims = [Claim(LookUpDetector.self, key, balance: Double(evidence.time))]
        finding.weigh(
            isLongEnough: Significance.isMet(
                saving: finding.saving.time.median, wallTime: evidence.wallTime,
                isMainThread: Significance.isMost(evidence.mainThreadTime, of: evidence.time)),
            isLargePart: saving.low > 0
                && Significance.isMet(trips: finding.saving.trips, of: profile.totals.readTrips), of: "trips")
        if finding.saving.time.median <= 0 {
            finding.downgrade("The trips are so quick here that one fetch would save nothing measurable.")
        }
        finding.weigh(lossyOccurrences: evidence.lossyOccurrences, of: evidence.occurrences)
        return finding
    }
}
