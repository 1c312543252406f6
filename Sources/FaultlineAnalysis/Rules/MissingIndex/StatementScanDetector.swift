internal import FaultlineTrace

/// Detects statements that step through a table, or for which SQLite builds an index, outside any operation of an object
/// store.
struct StatementScanDetector: EvidenceDetector {
    static let name = "statementScans"
    static let kinds: Set<EventKind> = [.sql]
    static let wallTime: (any WritableKeyPath<StatementScanEvidence, UInt64> & Sendable)? =
        \StatementScanEvidence.wallTime
    /// The most statements and lines to keep.
    private static let capacity = 8192

    var evidence: [StatementSite: StatementScanEvidence] = [:]

    mutating func observe(_ event: TraceEvent, in context: inout ProcessContext, _ tables: inout ProfileTables) {
        guard case .sql(let statement) = event.detail, event.parent == 0, statement.error == 0,
            statement.fullScanSteps > 0 || statement.automaticIndexes > 0, !context.isSetup(event.scope),
            let sql = context.dictionary.statement(statement.statement)?.sql
        else { return }
        let key = StatementSite(sql: sql, site: context.stackSite(of: event))
        guard hasRoom(for: key, among: Self.capacity) else { return }
        var found = StatementScanEvidence()
        found.executions = 1
        found.fullScanSteps = UInt64(statement.fullScanSteps)
        found.automaticIndexRows = UInt64(statement.automaticIndexes)
        found.sorts = UInt64(statement.sorts)
        found.rows = UInt64(statement.rows)
        found.time = event.timeWithoutLockWait
        found.mainThreadTime = event.isMainThread ? found.time : 0
        found.libraries = context.library(on: event.stack).map { [$0.rawValue] } ?? []
        if let plan = context.plan(statement.plan) {
            let lines = plan.text.split(separator: "\n").map(String.init)
            found.scans = Set(lines.filter { $0.hasPrefix("SCAN ") })
            found.automaticIndexes = Set(lines.filter { $0.contains(" USING AUTOMATIC ") })
        }
        let surroundings = surroundings(of: event.scope, for: key, outside: event.duration, in: &context)
        found.scopes = surroundings.scopes
        found.wallTime = surroundings.wallTime
        add(found, to: key)
    }

    mutating func finish(in context: inout ProcessContext, _ tables: inout ProfileTables) {}
}

extension Profile {
    /// Statements that scanned tables, outside any operation of an object store.
    public var statementScans: [(key: StatementSite, evidence: StatementScanEvidence)] {
        evidence(of: StatementScanDetector.self)
    }
}
