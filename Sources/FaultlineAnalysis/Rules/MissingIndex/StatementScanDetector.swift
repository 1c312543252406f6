internal import FaultlineTrace

/// Detects statements that step through a table, outside any operation of an object store.
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
            statement.fullScanSteps > 0, !context.isSetup(event.scope),
            let sql = context.dictionary.statement(statement.statement)?.sql
        else { return }
        let key = StatementSite(sql: sql, site: context.stackSite(of: event))
        guard evidence.count < Self.capacity || evidence[key] != nil else { return }
        var found = StatementScanEvidence()
        found.executions = 1
        found.fullScanSteps = UInt64(statement.fullScanSteps)
        found.sorts = UInt64(statement.sorts)
        found.rows = UInt64(statement.rows)
        found.time = event.timeWithoutLockWait
        found.mainThreadTime = event.isMainThread ? found.time : 0
        found.libraries = context.library(on: event.stack).map { [$0.rawValue] } ?? []
        if let plan = context.plan(statement.plan) {
            found.scans = Set(plan.text.split(separator: "\n").map(String.init).filter { $0.hasPrefix("SCAN ") })
        }
        let surroundings = surroundings(of: event.scope, for: key, outside: event.duration, in: &context)
        found.scopes = surroundings.scopes
        found.wallTime = surroundings.wallTime
        add(found, to: key)
    }

    mutating func finish(in context: inout ProcessContext, _ tables: inout ProfileTables) {}
}
