internal import FaultlineTrace

/// The registry of detectors.
enum Detectors {
    /// All detectors, in the order in which they observe each event and finish.
    ///
    /// The wait detector precedes the save detector, which needs its findings about saves.
    static let all: [any Detector.Type] = [
        FaultDetector.self, LoopDetector.self, LookUpDetector.self, WaitDetector.self, SaveDetector.self,
        RepeatDetector.self, BlockDetector.self, RefaultDetector.self, HoldDetector.self, FiringDetector.self,
        SharedResultDetector.self, ResultSizeDetector.self, FailureDetector.self,
        StatementLoopDetector.self, SmallTransactionDetector.self, StatementScanDetector.self,
        StatementSampleDetector.self, OffsetDetector.self, WholeResultDetector.self, RepeatedStatementDetector.self,
        PreparationDetector.self, ColumnReadDetector.self, CPUDetector.self, AllocationDetector.self,
        ProgramMemoryDetector.self, MigrationDetector.self,
    ]

    /// The detectors that gather evidence of their own.
    static let gathering: [any EvidenceDetector.Type] = all.compactMap { $0 as? any EvidenceDetector.Type }

    /// The indices in ``all`` of the detectors that observe a kind, by the kind's raw value.
    static let observing: [[Int]] = {
        (0...EventKind.highest).map { number in
            all.indices.filter { position in all[position].kinds.contains { Int($0.rawValue) == number } }
        }
    }()
}

/// The evidence of all detectors, by detector.
struct EvidenceStore: Sendable {
    private var tables: [ObjectIdentifier: any Sendable] = [:]

    subscript<Gatherer: EvidenceDetector>(detector: Gatherer.Type) -> [Gatherer.Key: Gatherer.Evidence] {
        get { tables[ObjectIdentifier(detector)] as? [Gatherer.Key: Gatherer.Evidence] ?? [:] }
        set { tables[ObjectIdentifier(detector)] = newValue.isEmpty ? nil : newValue }
    }

    /// Adds the evidence of a detector of one process.
    mutating func add<Gatherer: EvidenceDetector>(_ detector: Gatherer) {
        self[Gatherer.self].merge(detector.evidence)
    }

    /// Describes how a detector's evidence is merged, stored and restored.
    static func part<Gatherer: EvidenceDetector>(of detector: Gatherer.Type) -> SumPart<ProfileTables> {
        SumPart(
            name: detector.name,
            merge: { tables, other in tables.evidence[detector].merge(other.evidence[detector]) },
            store: { tables, words in tables.evidence[detector].stored(&words) },
            restore: { tables, value, words in try tables.evidence[detector].restore(value, words) })
    }
}

/// The evidence of all detectors, each sorted by the text of its keys.
struct SortedEvidence: Sendable {
    private var lists: [ObjectIdentifier: any Sendable] = [:]

    init(_ store: EvidenceStore) {
        for detector in Detectors.gathering { add(detector, from: store) }
    }

    private mutating func add<Gatherer: EvidenceDetector>(_ detector: Gatherer.Type, from store: EvidenceStore) {
        let rows = store[detector].map { (text: $0.key.sortText, row: (key: $0.key, evidence: $0.value)) }
        lists[ObjectIdentifier(detector)] = rows.sorted { $0.text < $1.text }.map(\.row)
    }

    subscript<Gatherer: EvidenceDetector>(
        detector: Gatherer.Type
    ) -> [(key: Gatherer.Key, evidence: Gatherer.Evidence)] {
        lists[ObjectIdentifier(detector)] as? [(key: Gatherer.Key, evidence: Gatherer.Evidence)] ?? []
    }
}

extension EventKind {
    /// The highest raw value of a kind, the size of tables by kind.
    static let highest = allCases.map { Int($0.rawValue) }.max() ?? 0

    /// The kinds of events that are a thread's work, as opposed to marks and summaries.
    static let work = Set(allCases.filter(\.isWork))

    /// Whether events of this kind describe the program, and not what it asks of its store.
    var isSample: Bool { self == .cpu || self == .allocation || self == .memory }

    /// Whether events of this kind are a thread's work.
    var isWork: Bool {
        switch self {
        case .scope, .use, .release, .eviction, .cpu, .allocation, .memory: false
        default: true
        }
    }
}
