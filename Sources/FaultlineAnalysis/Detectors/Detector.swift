internal import FaultlineTrace

/// Joins the events of one process, and holds a bounded number of open entries.
///
/// Events of one thread arrive in the order in which they ended, and events of different threads in any order. Code
/// that joins two events (a fault and its fetch, an event and its scope) must work in either order.
///
/// A detector completes the fetches in the tables, or gathers evidence of its own (``EvidenceDetector``). It knows
/// neither the state of other detectors nor any rule. State that several detectors need is in the ``ProcessContext``.
protocol Detector: Sendable {
    /// The kinds of events the detector observes.
    ///
    /// Other events are not passed to it.
    static var kinds: Set<EventKind> { get }

    init()

    /// Observes an event after the context has: its fetch is open, and its scope has begun.
    mutating func observe(_ event: TraceEvent, in context: inout ProcessContext, _ tables: inout ProfileTables)

    /// Adds the wall time of a scope that ended after evidence was found in it.
    ///
    /// Ignores references to other detectors' evidence.
    mutating func add(wallTime: UInt64, to reference: EvidenceReference)

    /// Completes the evidence when the process ends.
    ///
    /// Open scopes and fetches can still be looked up.
    mutating func finish(in context: inout ProcessContext, _ tables: inout ProfileTables)
}

extension Detector {
    mutating func add(wallTime: UInt64, to reference: EvidenceReference) {}
}

/// A detector that gathers evidence by key.
protocol EvidenceDetector: Detector {
    associatedtype Key: ProfileKey
    associatedtype Evidence: Mergeable & StartsEmpty

    /// The name of the evidence in a profile file.
    static var name: String { get }

    /// The field of the evidence that sums the wall time of its scopes, in nanoseconds.
    ///
    /// The default is none.
    static var wallTime: (any WritableKeyPath<Evidence, UInt64> & Sendable)? { get }

    /// Whether the evidence holds values of the program, which are passed on only if somebody asks for it.
    ///
    /// The default is no.
    static var holdsValues: Bool { get }

    /// The evidence, complete after `finish`.
    var evidence: [Key: Evidence] { get set }
}

extension EvidenceDetector {
    static var wallTime: (any WritableKeyPath<Evidence, UInt64> & Sendable)? { nil }
    static var holdsValues: Bool { false }

    /// Whether evidence under a key can be added without exceeding a number of keys.
    func hasRoom(for key: Key, among capacity: Int) -> Bool { evidence.count < capacity || evidence[key] != nil }

    /// Merges evidence under a key.
    mutating func add(_ found: Evidence, to key: Key) { evidence[key, default: Evidence()].merge(found) }

    /// Returns the surroundings of an event in a scope.
    ///
    /// The scope's wall time counts once for each key.
    ///
    /// - Parameter wallTime: The wall time to use outside any scope, in nanoseconds.
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

/// A reference to a piece of a detector's evidence.
struct EvidenceReference: Sendable, Hashable {
    private let detector: ObjectIdentifier
    private let key: any Hashable & Sendable

    init<Gatherer: EvidenceDetector>(_ detector: Gatherer.Type, _ key: Gatherer.Key) {
        self.detector = ObjectIdentifier(detector)
        self.key = key
    }

    /// The key, or `nil` if the evidence belongs to another detector.
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
