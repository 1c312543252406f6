import FaultlineTrace

/// The evidence of all detectors, by detector.
struct EvidenceStore: Sendable {
    private var tables: [ObjectIdentifier: any EvidenceTable] = [:]

    subscript<Gatherer: EvidenceDetector>(detector: Gatherer.Type) -> [Gatherer.Key: Gatherer.Evidence] {
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
            if value != .none { try self[detector].restore(value, words) }
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
    mutating func merge(_ other: any EvidenceTable)
    func stored(_ words: inout ProfileWords) -> StoredValue
}

private struct Gathered<Gatherer: EvidenceDetector>: EvidenceTable {
    var evidence: [Gatherer.Key: Gatherer.Evidence]

    var name: String { Gatherer.name }
    var holdsValues: Bool { Gatherer.holdsValues }
    var sortedRows: any Sendable { evidence.map { (key: $0.key, evidence: $0.value) }.ordered(on: \.key.sortText) }

    mutating func merge(_ other: any EvidenceTable) {
        if let other = other as? Self { evidence.merge(other.evidence) }
    }

    func stored(_ words: inout ProfileWords) -> StoredValue { evidence.stored(&words) }
}
