internal import FaultlineTrace

/// Detects statements that return pages and skip the rows before them, outside any operation of an object store.
struct OffsetDetector: EvidenceDetector {
    static let name = "offsets"
    static let kinds: Set<EventKind> = [.sql]
    static let wallTime: (any WritableKeyPath<OffsetEvidence, UInt64> & Sendable)? = \OffsetEvidence.wallTime
    /// The most statements and lines to keep.
    private static let capacity = 1024

    var evidence: [StatementSite: OffsetEvidence] = [:]
    /// The texts of statements that skip rows, by their numbers; `nil` for others.
    private var paged: [DictionaryID: String?] = [:]

    mutating func observe(_ event: TraceEvent, in context: inout ProcessContext, _ tables: inout ProfileTables) {
        // A sort reads all rows for each page, wherever that begins.
        guard case .sql(let statement) = event.detail, event.parent == 0, statement.error == 0, statement.sorts == 0,
            statement.type == .read, statement.virtualMachineSteps > 0, !context.isSetup(event.scope),
            let sql = paged(statement.statement, in: context)
        else { return }
        let key = StatementSite(sql: sql, site: context.stackSite(of: event))
        guard hasRoom(for: key, among: Self.capacity) else { return }
        var found = OffsetEvidence()
        found.executions = 1
        found.rows = UInt64(statement.rows)
        found.steps = statement.virtualMachineSteps
        found.leastSteps = statement.rows == 0 ? 0 : statement.virtualMachineSteps
        found.fullScanSteps = UInt64(statement.fullScanSteps)
        found.time = event.timeWithoutLockWait
        found.mainThreadTime = event.isMainThread ? found.time : 0
        found.libraries = context.library(on: event.stack).map { [$0.rawValue] } ?? []
        let surroundings = surroundings(of: event.scope, for: key, outside: event.duration, in: &context)
        found.scopes = surroundings.scopes
        found.wallTime = surroundings.wallTime
        add(found, to: key)
    }

    /// The text of a statement that skips rows.
    private mutating func paged(_ statement: DictionaryID, in context: ProcessContext) -> String? {
        if let known = paged[statement] { return known }
        guard let sql = context.dictionary.statement(statement)?.sql else { return nil }
        paged[statement] = .some(StatementText(sql).isPaged ? sql : nil)
        return paged[statement] ?? nil
    }

    mutating func finish(in context: inout ProcessContext, _ tables: inout ProfileTables) {}
}

extension Profile {
    /// Statements that skipped rows by an offset, outside any operation of an object store.
    public var offsets: [(key: StatementSite, evidence: OffsetEvidence)] {
        evidence(of: OffsetDetector.self)
    }
}
