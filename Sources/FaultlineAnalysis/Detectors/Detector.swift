internal import FaultlineTrace

/// Joins the events of one process, with bounded memory for what may still go on.
///
/// Events of one thread come in the order in which they ended, those of different threads in any order. So whatever joins
/// two events (a fault and its fetch, an event and its scope) must work whichever of the two comes first.
///
/// A detector completes the fetches in the tables, or it gathers evidence of its own (``EvidenceDetector``). It knows
/// neither the state of other detectors nor any rule. What several need is in the ``ProcessContext``.
protocol Detector: Sendable {
    /// The kinds of events that it observes. Others are not shown to it.
    static var kinds: Set<EventKind> { get }

    init()

    /// Takes in an event, which the context knows already: its fetch is open, its scope has begun.
    mutating func observe(_ event: TraceEvent, in context: inout ProcessContext, _ tables: inout ProfileTables)

    /// Adds the wall time of a scope that ended after evidence had been found in it, if the evidence is this detector's.
    mutating func add(wallTime: UInt64, to reference: EvidenceReference)

    /// Completes the evidence when the process ends. Scopes and fetches that are open can still be looked up.
    mutating func finish(in context: inout ProcessContext, _ tables: inout ProfileTables)
}

extension Detector {
    mutating func add(wallTime: UInt64, to reference: EvidenceReference) {}
}

/// A detector whose findings add up to evidence, by what they are about.
protocol EvidenceDetector: Detector {
    associatedtype Key: ProfileKey
    associatedtype Evidence: Mergeable & StartsEmpty

    /// The name of the evidence in a profile's file.
    static var name: String { get }

    /// Where the evidence adds up the wall time of the scopes concerned, in nanoseconds; by default nowhere.
    static var wallTime: (any WritableKeyPath<Evidence, UInt64> & Sendable)? { get }

    /// What it found, complete after `finish`.
    var evidence: [Key: Evidence] { get set }
}

extension EvidenceDetector {
    static var wallTime: (any WritableKeyPath<Evidence, UInt64> & Sendable)? { nil }

    /// Adds to the evidence under a key.
    mutating func add(_ found: Evidence, to key: Key) { evidence[key, default: Evidence()].merge(found) }

    /// What surrounded something in a scope, whose wall time counts once for each key.
    ///
    /// - Parameter wallTime: What counts instead outside any scope, in nanoseconds.
    func surroundings(
        of scope: EventID, for key: Key, outside wallTime: UInt64, in context: inout ProcessContext
    ) -> Surroundings {
        context.surroundings(of: scope, for: EvidenceReference(Self.self, key), outside: wallTime)
    }

    mutating func add(wallTime: UInt64, to reference: EvidenceReference) {
        guard let path = Self.wallTime, let key = reference.key(of: Self.self) else { return }
        evidence[key]?[keyPath: path] &+= wallTime
    }
}

/// Evidence of some detector.
struct EvidenceReference: Sendable, Hashable {
    private let detector: ObjectIdentifier
    private let key: any Hashable & Sendable

    init<Gatherer: EvidenceDetector>(_ detector: Gatherer.Type, _ key: Gatherer.Key) {
        self.detector = ObjectIdentifier(detector)
        self.key = key
    }

    /// The key, if the evidence is of that detector.
    func key<Gatherer: EvidenceDetector>(of detector: Gatherer.Type) -> Gatherer.Key? {
        self.detector == ObjectIdentifier(detector) ? key as? Gatherer.Key : nil
    }

    static func == (left: EvidenceReference, right: EvidenceReference) -> Bool {
        left.detector == right.detector && left.key.equals(right.key)
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(detector)
        key.hash(into: &hasher)
    }
}

extension Hashable {
    fileprivate func equals(_ other: any Hashable) -> Bool { other as? Self == self }
}
