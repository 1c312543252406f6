internal import FaultlineTrace

/// Detects what a program reads of the rows of statements, outside any operation of an object store.
struct ColumnReadDetector: EvidenceDetector {
    static let name = "columnReads"
    static let kinds: Set<EventKind> = [.sql]
    static let wallTime: (any WritableKeyPath<ColumnReadEvidence, UInt64> & Sendable)? = \ColumnReadEvidence.wallTime
    /// The most statements and lines to keep.
    private static let capacity = 1024
    /// The columns of a row whose use is recorded.
    ///
    /// Of a statement with more, the others may be read.
    private static let recordedColumns = 63

    var evidence: [StatementSite: ColumnReadEvidence] = [:]

    mutating func observe(_ event: TraceEvent, in context: inout ProcessContext, _ tables: inout ProfileTables) {
        guard case .sql(let statement) = event.detail, event.parent == 0, statement.error == 0, statement.type == .read,
            (1...Self.recordedColumns).contains(Int(statement.columns)), statement.rows > 0,
            !context.isSetup(event.scope),
            let entry = context.dictionary.statement(statement.statement)
        else { return }
        let key = StatementSite(sql: entry.sql, site: context.stackSite(of: event))
        guard hasRoom(for: key, among: Self.capacity) else { return }
        var found = ColumnReadEvidence()
        found.executions = 1
        found.rows = UInt64(statement.rows)
        found.time = event.timeWithoutLockWait
        found.mainThreadTime = event.isMainThread ? found.time : 0
        found.countedRuns = statement.columnsRead == 0 ? 1 : 0
        let names = entry.columns ?? []
        for position in 0..<Int(statement.columns) {
            let column = ColumnReadEvidence.numbered(position, position < names.count ? names[position] : nil)
            found.columns.insert(column)
            if statement.columnsRead >> UInt64(position) & 1 == 1 { found.read.insert(column) }
        }
        found.libraries = context.library(on: event.stack).map { [$0.rawValue] } ?? []
        let surroundings = surroundings(of: event.scope, for: key, outside: event.duration, in: &context)
        found.scopes = surroundings.scopes
        found.wallTime = surroundings.wallTime
        add(found, to: key)
    }

    mutating func finish(in context: inout ProcessContext, _ tables: inout ProfileTables) {}
}

extension Profile {
    /// What the program read of the rows of statements outside any operation of an object store, if that was recorded.
    public var columnReads: [(key: StatementSite, evidence: ColumnReadEvidence)] {
        evidence(of: ColumnReadDetector.self)
    }
}
