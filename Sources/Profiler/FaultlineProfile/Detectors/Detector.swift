package import FaultlineTrace

/// Joins the events of one process, and holds a bounded number of open entries.
///
/// Events of one thread arrive in the order in which they ended, and events of different threads in any order. Code
/// that joins two events (a fault and its fetch, an event and its scope) must work in either order.
///
/// A detector completes the fetches in the tables, or gathers evidence of its own (``EvidenceDetector``). It knows
/// neither the state of other detectors nor any rule. State that several detectors need is in the ``ProcessContext``.
package protocol Detector: Sendable {
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
    package mutating func add(wallTime: UInt64, to reference: EvidenceReference) {}
}

/// A detector that gathers evidence by key.
package protocol EvidenceDetector: Detector {
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
    package static var wallTime: (any WritableKeyPath<Evidence, UInt64> & Sendable)? { nil }
    package static var holdsValues: Bool { false }

    package mutating func add(wallTime: UInt64, to reference: EvidenceReference) {
        guard let path = Self.wallTime, let key = reference.key(of: Self.self) else { return }
        evidence[key]?[keyPath: path] &+= wallTime
    }
}

/// A reference to a piece of a detector's evidence.
package struct EvidenceReference: Sendable, Hashable {
    private let detector: ObjectIdentifier
    private let key: any Hashable & Sendable

    package init<Gatherer: EvidenceDetector>(_ detector: Gatherer.Type, _ key: Gatherer.Key) {
        self.detector = ObjectIdentifier(detector)
        self.key = key
    }

    /// The key, or `nil` if the evidence belongs to another detector.
    func key<Gatherer: EvidenceDetector>(of detector: Gatherer.Type) -> Gatherer.Key? {
        self.detector == ObjectIdentifier(detector) ? key as? Gatherer.Key : nil
    }

    package static func == (left: EvidenceReference, right: EvidenceReference) -> Bool {
        left.detector == right.detector && left.key.equals(right.key)
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(detector)
        key.hash(into: &hasher)
    }
}

extension Hashable {
    fileprivate func equals(_ other: any Hashable) -> Bool { other as? Self == self }
}

/// Detectors that reduce the events of a process together.
package struct Detectors: Sendable {
    /// In the order in which they observe each event and finish.
    let all: [any Detector.Type]
    /// The detectors that gather evidence of their own.
    let gathering: [any EvidenceDetector.Type]
    /// The indices in ``all`` of the detectors that observe a kind, by the kind's raw value.
    let observing: [[Int]]

    package init(_ all: [any Detector.Type]) {
        self.all = all
        gathering = all.compactMap { $0 as? any EvidenceDetector.Type }
        observing = (0...EventKind.highest).map { number in
            all.indices.filter { position in all[position].kinds.contains { Int($0.rawValue) == number } }
        }
    }
}

extension EventKind {
    /// The highest raw value of a kind, the size of tables by kind.
    static let highest = allCases.map { Int($0.rawValue) }.max() ?? 0

    /// The kinds of events that are a thread's work, as opposed to marks and summaries.
    package static let work = Set(allCases.filter(\.isWork))
}

/// The evidence of all detectors, by detector.
package struct EvidenceStore: Sendable {
    private var tables: [ObjectIdentifier: any EvidenceTable] = [:]

    package subscript<Gatherer: EvidenceDetector>(detector: Gatherer.Type) -> [Gatherer.Key: Gatherer.Evidence] {
        get { (tables[ObjectIdentifier(detector)] as? Gathered<Gatherer>)?.evidence ?? [:] }
        set { tables[ObjectIdentifier(detector)] = newValue.isEmpty ? nil : Gathered<Gatherer>(evidence: newValue) }
    }

    /// Adds the evidence of a detector of one process.
    mutating func add<Gatherer: EvidenceDetector>(_ detector: Gatherer) {
        self[Gatherer.self].merge(detector.evidence)
    }

    mutating func merge(_ other: EvidenceStore) {
        for (detector, table) in other.tables {
            if tables[detector]?.merge(table) == nil { tables[detector] = table }
        }
    }

    /// The evidence under each key, as the mean of the recordings that have the key.
    var mean: EvidenceStore {
        var mean = self
        mean.tables = tables.mapValues(\.mean)
        return mean
    }

    /// Removes the evidence that holds values of the program.
    mutating func removeValues() { tables = tables.filter { !$0.value.holdsValues } }

    /// The members of a profile file: one for each detector that has evidence.
    func stored(_ words: inout ProfileWords) -> [String: StoredValue] {
        var members: [String: StoredValue] = [:]
        for table in tables.values.ordered(on: \.name) { members[table.name] = table.stored(&words) }
        return members
    }

    /// Restores the evidence of these detectors from a profile file; the members of others are ignored.
    init(_ file: StoredValue, of detectors: Detectors, _ words: ProfileWords) throws {
        for detector in detectors.gathering { try restore(detector, file, words) }
    }

    init() {}

    private mutating func restore<Gatherer: EvidenceDetector>(
        _ detector: Gatherer.Type, _ file: StoredValue, _ words: ProfileWords
    ) throws {
        try file.member(detector.name) { value in
            if value != .none { tables[ObjectIdentifier(detector)] = try Gathered<Gatherer>(value, words) }
        }
    }

    /// The evidence, each table sorted by the text of its keys.
    var sorted: SortedEvidence { SortedEvidence(lists: tables.mapValues(\.sortedRows)) }
}

/// The evidence of all detectors, each sorted by the text of its keys.
struct SortedEvidence: Sendable {
    fileprivate let lists: [ObjectIdentifier: any Sendable]

    subscript<Gatherer: EvidenceDetector>(
        detector: Gatherer.Type
    ) -> [(key: Gatherer.Key, evidence: Gatherer.Evidence)] {
        lists[ObjectIdentifier(detector)] as? [(key: Gatherer.Key, evidence: Gatherer.Evidence)] ?? []
    }
}

/// The evidence of one detector, for code that does not know which.
private protocol EvidenceTable: Sendable {
    var name: String { get }
    var holdsValues: Bool { get }
    /// A list of keys with their evidence.
    var sortedRows: any Sendable { get }
    var mean: any EvidenceTable { get }
    mutating func merge(_ other: any EvidenceTable)
    func stored(_ words: inout ProfileWords) -> StoredValue
}

private struct Gathered<Gatherer: EvidenceDetector>: EvidenceTable {
    var evidence: [Gatherer.Key: Gatherer.Evidence]
    /// The number of recordings that have a key, if more than one has.
    private var recordings: [Gatherer.Key: UInt64] = [:]

    var name: String { Gatherer.name }
    var holdsValues: Bool { Gatherer.holdsValues }
    var sortedRows: any Sendable { evidence.map { (key: $0.key, evidence: $0.value) }.ordered(on: \.key.sortText) }

    init(evidence: [Gatherer.Key: Gatherer.Evidence]) { self.evidence = evidence }

    mutating func merge(_ other: any EvidenceTable) {
        guard let other = other as? Self else { return }
        for key in other.evidence.keys {
            let more = other.recordings[key]
            if evidence[key] != nil {
                recordings[key] = (recordings[key] ?? 1) &+ (more ?? 1)
            } else if let more {
                recordings[key] = more
            }
        }
        evidence.merge(other.evidence)
    }

    var mean: any EvidenceTable {
        var mean = self
        for (key, number) in recordings { mean.evidence[key]?.divide(by: max(1, number)) }
        mean.recordings = [:]
        return mean
    }

    func stored(_ words: inout ProfileWords) -> StoredValue {
        .list(
            evidence.ordered(on: \.key.sortText).map {
                .row($0.key.stored(&words), $0.value.stored(&words), recordings: recordings[$0.key] ?? 1)
            })
    }

    init(_ value: StoredValue, _ words: ProfileWords) throws {
        evidence = [:]
        for row in try value.map({ try $0.row() }).enumerated() {
            try StoredProblem.within(String(row.offset)) {
                let key = try StoredProblem.within("0") { try Gatherer.Key(row.element.key, words) }
                // A repeated key would add two sums, each of which is bounded only by itself.
                guard evidence[key] == nil else { throw StoredProblem(expected: "a row whose key is unique") }
                var found = Gatherer.Evidence()
                try StoredProblem.within("1") { try found.restore(row.element.sum, words) }
                evidence[key] = found
                if row.element.recordings > 1 { recordings[key] = row.element.recordings }
            }
        }
    }
}
