internal import FaultlineProfile
internal import FaultlineTrace

/// Detects statements without a limit whose many rows a mapper keeps in memory, outside any operation of an object store.
struct WholeResultDetector: EvidenceDetector {
    static let name = "wholeResults"
    static let kinds: Set<EventKind> = [.sql]
    /// The most statements and lines to keep.
    private static let capacity = 1024

    var evidence: [StatementSite: WholeResultEvidence] = [:]

    mutating func observe(_ event: TraceEvent, in context: inout ProcessContext, _ tables: inout ProfileTables) {
        guard case .sql(let statement) = event.detail, event.parent == 0, statement.error == 0, statement.type == .read,
            UInt64(statement.rows) >= FetchProfile.manyRows.count, !context.isSetup(event.scope),
            context.keepsAllRows(on: event.stack),
            let sql = context.dictionary.statement(statement.statement)?.sql
        else { return }
        let key = StatementSite(sql: sql, site: context.stackSite(of: event))
        guard hasRoom(for: key, among: Self.capacity), !StatementText(sql).isLimited else { return }
        var found = WholeResultEvidence()
        (found.executions, found.rows, found.mostRows) = (1, UInt64(statement.rows), UInt64(statement.rows))
        found.time = event.timeWithoutLockWait
        found.libraries = context.library(on: event.stack).map { [$0.rawValue] } ?? []
        add(found, to: key)
    }

    mutating func finish(in context: inout ProcessContext, _ tables: inout ProfileTables) {}
}

/// Runs of one statement at one line that returned many rows, which a mapper kept in memory.
struct WholeResultEvidence: RunEvidence {
    var runs = RunSums()
    /// The rows of the largest result.
    var mostRows: UInt64 = 0
}

extension WholeResultEvidence {
    static let parts: [SumPart<WholeResultEvidence>] = [
        .members(\.runs), .maximum("mostRows", \.mostRows),
    ]
}

extension Profile {
    /// Statements whose many rows a mapper kept in memory, outside any operation of an object store.
    var wholeResults: [(key: StatementSite, evidence: WholeResultEvidence)] {
        evidence(of: WholeResultDetector.self)
    }
}
