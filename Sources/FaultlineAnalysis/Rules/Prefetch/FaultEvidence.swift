public import FaultlineTrace

/// Faults that went to the store one by one although one fetch returned all their objects.
///
/// It includes only faults that passed the thresholds within one scope and for one fetch.
public struct FaultEvidence: Sendable {
    public struct Key: Sendable, Hashable {
        public enum Subject: Sendable, Hashable {
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

        public var subject: Subject
        /// The fetch that returned the objects.
        public var fetch: FetchProfile.Key
    }

    /// The number of occurrences, each for one fetch in one scope.
    public internal(set) var occurrences: UInt64 = 0
    /// The number of occurrences in which events were lost.
    public internal(set) var lossyOccurrences: UInt64 = 0
    /// Round trips.
    public internal(set) var trips: UInt64 = 0
    /// The faults' time, in nanoseconds.
    public internal(set) var time: UInt64 = 0
    public internal(set) var mainThreadTime: UInt64 = 0
    /// The number of distinct objects that fired.
    public internal(set) var objects: UInt64 = 0
    /// The number of rows that the trips loaded.
    public internal(set) var filled: UInt64 = 0
    public internal(set) var bytes: UInt64 = 0
    /// Trips for objects whose row had been in the row cache before.
    public internal(set) var seenBefore: UInt64 = 0
    /// The rows that were loaded of these fetches.
    public internal(set) var originRows: UInt64 = 0
    /// The number of these fetches, by their batch size.
    public internal(set) var fetches: [UInt32: UInt64] = [:]
    public internal(set) var types: [TraceEvent.Fault.FaultType: UInt64] = [:]
    public internal(set) var places: [CallSite?: TripSum] = [:]
    public internal(set) var scopes: [ScopeSummary.Key: UInt64] = [:]
    /// The wall time of the scopes, or without scopes from a fetch to its last fault, in nanoseconds.
    public internal(set) var wallTime: UInt64 = 0
    /// The durations of the trips.
    var speeds = Speeds()
    /// The slowest three faults.
    public internal(set) var samples: [EventSample] = []

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

    static let parts: [SumPart<FaultEvidence>] = [
        .sum("occurrences", \.occurrences), .sum("lossyOccurrences", \.lossyOccurrences), .sum("trips", \.trips),
        .sum("time", \.time), .sum("mainThreadTime", \.mainThreadTime), .sum("objects", \.objects),
        .sum("filled", \.filled), .sum("bytes", \.bytes), .sum("seenBefore", \.seenBefore),
        .sum("originRows", \.originRows), .sum("wallTime", \.wallTime), .part("fetches", \.fetches),
        .part("types", \.types), .part("places", \.places), .part("speeds", \.speeds.classes),
        .part("scopes", \.scopes), slowest,
    ]
}

extension FaultEvidence.Key: ProfileKey {
    static var hasSpellings: Bool { true }

    var sortText: String {
        switch subject {
        case .relationship(let entity, let name): fetch.sortText + "\u{2}\(entity).\(name)"
        case .target(let entity): fetch.sortText + "\u{2}\(entity)"
        }
    }

    /// The fetch, the entity, and the relationship's name if there is one.
    func stored(_ words: inout ProfileWords) -> StoredValue {
        switch subject {
        case .relationship(let entity, let name): .list([fetch.stored(&words), .text(entity), .text(name)])
        case .target(let entity): .list([fetch.stored(&words), .text(entity), .none])
        }
    }

    init(_ value: StoredValue, _ words: ProfileWords) throws {
        let parts = try value.list(of: 3)
        let entity = try parts[1].text()
        let name = try parts[2].optionalText()
        self.init(
            subject: name.map { .relationship(entity: entity, name: $0) } ?? .target(entity: entity),
            fetch: try FetchProfile.Key(parts[0], words))
    }
}
