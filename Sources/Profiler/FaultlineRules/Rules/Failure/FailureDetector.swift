internal import FaultlineProfile
internal import FaultlineTrace

/// Detects fetches, batches, faults and saves that failed.
struct FailureDetector: EvidenceDetector {
    static let name = "failures"
    static let kinds: Set<EventKind> = [.fetch, .batch, .fault, .save]

    var evidence: [FailureEvidence.Key: FailureEvidence] = [:]

    mutating func observe(_ event: TraceEvent, in context: inout ProcessContext, _ tables: inout ProfileTables) {
        // Nearly every event is a success, so its entities are not gathered.
        guard let code = Self.failure(event.detail) else { return }
        let unit = context.unit(of: event.scope)
        guard !unit.isSetup else { return }
        var found = FailureEvidence()
        var entities: [DictionaryID] = []
        switch event.detail {
        case .fetch(let fetch): entities = [fetch.entity]
        case .batch(let batch): entities = [batch.entity]
        case .fault(let fault):
            entities = [fault.owner]
            found.gone = fault.source == .gone ? 1 : 0
        case .save(let save):
            entities = save.entities.map(\.entity)
            found.conflicts = UInt64(save.conflicts)
        default: break
        }
        found.failures = 1
        found.time = event.duration
        // The upper bits of an extended code say more about the primary code in its lowest byte.
        if code != 0 { found.codes = [UInt64(code & 0xFF): 1] }
        found.scopes = context.scopes.peek(unit.id)?.key.map { [$0: 1] } ?? [:]
        let site =
            switch event.kind {
            case .fault, .batch: context.causeSite(of: event)
            default: context.callSite(of: event)
            }
        let names = Set(entities.compactMap { context.entityName($0) }).sorted()
        add(found, to: FailureEvidence.Key(kind: event.kind, entities: names, site: site))
    }

    /// SQLITE_BUSY and SQLITE_LOCKED.
    ///
    /// Another connection holds a lock, and R13 reports the operations as waits.
    private static let lockCodes: Set<UInt32> = [5, 6]

    /// SQLite's code of a failure, or 0 if a fault found no row; `nil` for a success and for a lock.
    private static func failure(_ detail: TraceEvent.Detail) -> UInt32? {
        let error: UInt32
        switch detail {
        case .fetch(let fetch): error = fetch.error
        case .batch(let batch): error = batch.error
        case .save(let save): error = save.error
        // A call that throws reports the failure to the program.
        case .fault(let fault) where !fault.isThrowing:
            if fault.source == .gone { return fault.error }
            error = fault.error
        default: return nil
        }
        return error == 0 || lockCodes.contains(error & 0xFF) ? nil : error
    }

    mutating func finish(in context: inout ProcessContext, _ tables: inout ProfileTables) {}
}

/// Operations of one line that failed.
struct FailureEvidence: Sendable {
    /// The operation that failed, and the line of the program that asked for it.
    struct Key: Sendable, Hashable {
        var kind: EventKind
        /// The names of the entities concerned, in alphabetical order.
        var entities: [String]
        /// The line, or `nil` if the trace does not have it.
        var site: CallSite?
    }

    /// The number of operations that failed.
    var failures: UInt64 = 0
    /// The number of faults whose row was gone, among the failures.
    var gone: UInt64 = 0
    /// The failures by SQLite's primary result code (https://www.sqlite.org/rescode.html).
    var codes: [UInt64: UInt64] = [:]
    /// The number of conflicts that the failed saves met.
    var conflicts: UInt64 = 0
    /// The time of the operations that failed, in nanoseconds.
    var time: UInt64 = 0
    /// The scopes in which operations failed.
    var scopes: [ScopeSummary.Key: UInt64] = [:]

    /// The most frequent code.
    var mainCode: UInt64? { codes.max { ($0.value, $1.key) < ($1.value, $0.key) }?.key }
}

extension FailureEvidence: Summed, StartsEmpty {
    static let parts: [SumPart<FailureEvidence>] = [
        .sum("failures", \.failures), .sum("gone", \.gone), .part("codes", \.codes), .sum("conflicts", \.conflicts),
        .sum("time", \.time), .part("scopes", \.scopes),
    ]
}

extension FailureEvidence.Key: ProfileKey {
    static var hasSpellings: Bool { true }
    var sortText: String {
        ([kind.name, site?.sortText ?? ""] + entities).joined(separator: "\u{2}")
    }

    func stored(_ words: inout ProfileWords) -> StoredValue {
        .list([kind.stored(&words), StoredValue(entities), site.stored(&words)])
    }

    init(_ value: StoredValue, _ words: ProfileWords) throws {
        let parts = try value.list(of: 3)
        self.init(
            kind: try EventKind(parts[0], words), entities: try parts[1].texts(), site: try CallSite?(parts[2], words))
    }
}
