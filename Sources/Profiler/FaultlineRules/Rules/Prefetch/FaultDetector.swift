internal import FaultlineFindings
package import FaultlineProfile
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
        let own = event.ownDuration
        evidence.time &+= own
        evidence.mainThreadTime &+= event.isMainThread ? own : 0
        evidence.filled &+= UInt64(fault.filled)
        evidence.bytes &+= fault.bytes
        evidence.seenBefore &+= fault.seenBefore ? 1 : 0
        evidence.types[fault.type, default: 0] &+= 1
        let isKnown = evidence.places[site] != nil || evidence.places.count < Self.maximumSites
        evidence.places[isKnown ? site : nil, default: TripSum()].add(own)
        evidence.speeds.add(own)
        evidence.add(EventSample(process: event.process, event: event.id, duration: own))
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
            // The objects of a fetch of one row are those that a relationship of its object leads to.
            guard faults.objects.count >= Self.threshold.count,
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
    package var faults: [(key: FaultEvidence.Key, evidence: FaultEvidence)] {
        evidence(of: FaultDetector.self)
    }
}

/// Faults that went to the store one by one although one fetch returned all their objects.
///
/// It includes only faults that passed the thresholds within one scope and for one fetch.
package struct FaultEvidence: Sendable {
    package struct Key: Sendable, Hashable {
        enum Subject: Sendable, Hashable {
            /// Faults on a relationship, or on the objects it leads to.
            case relationship(entity: String, name: String)
            /// Faults on objects of an entity, for which the trace does not name a relationship.
            case target(entity: String)

            /// The subject of the faults' events.
            var group: EventGroup.Key.Subject {
                switch self {
                case .relationship(let entity, let name): .relationship(entity: entity, name: name)
                case .target(let entity): .entity(entity)
                }
            }
        }

        var subject: Subject
        /// The fetch that returned the objects.
        package var fetch: FetchProfile.Key
    }

    package init() {}

    /// The number of occurrences, each for one fetch in one scope.
    var occurrences: UInt64 = 0
    /// The number of occurrences in which events were lost.
    var lossyOccurrences: UInt64 = 0
    /// Round trips.
    package var trips: UInt64 = 0
    /// The faults' time, in nanoseconds.
    var time: UInt64 = 0
    var mainThreadTime: UInt64 = 0
    /// The number of distinct objects that fired.
    var objects: UInt64 = 0
    /// The number of rows that the trips loaded.
    var filled: UInt64 = 0
    var bytes: UInt64 = 0
    /// Trips for objects whose row had been in the row cache before.
    var seenBefore: UInt64 = 0
    /// The rows that were loaded of these fetches.
    var originRows: UInt64 = 0
    /// The number of these fetches, by their batch size.
    var fetches: [UInt32: UInt64] = [:]
    var types: [TraceEvent.Fault.FaultType: UInt64] = [:]
    var places: [CallSite?: TripSum] = [:]
    var scopes: [ScopeSummary.Key: UInt64] = [:]
    /// The wall time of the scopes, or without scopes from a fetch to its last fault, in nanoseconds.
    var wallTime: UInt64 = 0
    /// The durations of the trips.
    var speeds = Speeds()
    /// The slowest three faults.
    var samples: [EventSample] = []

    /// Whether most faults are on the fetch's own objects, whose rows it had loaded.
    ///
    /// No change of the fetch can help. R11 explains why the rows were no longer in memory.
    func isReread(_ key: Key) -> Bool {
        key.subject == .target(entity: key.fetch.shape.entity) && key.fetch.shape.resultType == "objects"
            && Significance.isAtLeastHalf(seenBefore, of: trips)
    }

    /// The time of the faults if none of the slowest tenth took longer than the others, in nanoseconds.
    ///
    /// The slowest read pages that later faults find in memory. A prefetch must read these pages too.
    var typicalTime: Double {
        var (left, time) = (trips - trips / 10, 0.0)
        for (_, speed) in speeds.classes.ordered(on: \.key) {
            let mean = Double(speed.time) / Double(max(1, speed.trips))
            guard speed.trips < left else {
                // The rest of the others, and the slowest tenth.
                return min(Double(self.time), time + mean * Double(left &+ trips / 10))
            }
            left -= speed.trips
            time += Double(speed.time)
        }
        return Double(self.time)
    }

    mutating func add(_ sample: EventSample) {
        samples.append(sample)
        samples.sort { ($0.duration, $1.process, $1.event) > ($1.duration, $0.process, $0.event) }
        if samples.count > 3 { samples.removeLast() }
    }

    /// Merges faults in the same scopes on objects of the same fetches and rows, without counting these twice.
    mutating func absorb(_ part: FaultEvidence) {
        let (old, wall, rows, fetches, scopes) = (occurrences, wallTime, originRows, self.fetches, self.scopes)
        merge(part)
        occurrences = max(old, part.occurrences)
        wallTime = max(wall, part.wallTime)
        originRows = max(rows, part.originRows)
        objects = max(objects - part.objects, part.objects)
        self.fetches = fetches.merging(part.fetches) { max($0, $1) }
        self.scopes = scopes.merging(part.scopes) { max($0, $1) }
    }
}

extension FaultEvidence: Summed, StartsEmpty {
    /// The slowest faults, with the process, the event and the duration of each.
    private static let slowest = SumPart<FaultEvidence>(
        name: "samples", merge: { whole, other in for sample in other.samples { whole.add(sample) } },
        store: { whole, _ in
            .list(
                whole.samples.map {
                    .list([StoredValue(UInt64($0.process)), StoredValue($0.event), StoredValue($0.duration)])
                })
        },
        restore: { whole, value, words in
            for sample in try value.map({ try $0.list(of: 3) }) {
                whole.add(
                    EventSample(
                        process: try UInt32(sample[0], words), event: try sample[1].count(),
                        duration: try sample[2].count()))
            }
        })

    package static let parts: [SumPart<FaultEvidence>] = [
        .sum("occurrences", \.occurrences), .sum("lossyOccurrences", \.lossyOccurrences), .sum("trips", \.trips),
        .sum("time", \.time), .sum("mainThreadTime", \.mainThreadTime), .sum("objects", \.objects),
        .sum("filled", \.filled), .sum("bytes", \.bytes), .sum("seenBefore", \.seenBefore),
        .sum("originRows", \.originRows), .sum("wallTime", \.wallTime), .part("fetches", \.fetches),
        .part("types", \.types), .part("places", \.places), .part("speeds", \.speeds.classes),
        .part("scopes", \.scopes), slowest,
    ]
}

extension FaultEvidence.Key: ProfileKey {
    package static var hasSpellings: Bool { true }

    package var sortText: String {
        switch subject {
        case .relationship(let entity, let name): fetch.sortText + "\u{2}\(entity).\(name)"
        case .target(let entity): fetch.sortText + "\u{2}\(entity)"
        }
    }

    /// The fetch, the entity, and the relationship's name if there is one.
    package func stored(_ words: inout ProfileWords) -> StoredValue {
        switch subject {
        case .relationship(let entity, let name): .list([fetch.stored(&words), .text(entity), .text(name)])
        case .target(let entity): .list([fetch.stored(&words), .text(entity), .none])
        }
    }

    package init(_ value: StoredValue, _ words: ProfileWords) throws {
        let parts = try value.list(of: 3)
        let entity = try parts[1].text()
        let name = try parts[2].optionalText()
        self.init(
            subject: name.map { .relationship(entity: entity, name: $0) } ?? .target(entity: entity),
            fetch: try FetchProfile.Key(parts[0], words))
    }
}
