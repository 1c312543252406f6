internal import FaultlineTrace

/// Gathers the times of preparing and running each statement, outside any operation of an object store.
struct PreparationDetector: EvidenceDetector {
    static let name = "preparations"
    static let kinds: Set<EventKind> = [.sql]
    /// The most statements and lines to keep.
    private static let capacity = 8192

    var evidence: [StatementSite: PreparationEvidence] = [:]

    mutating func observe(_ event: TraceEvent, in context: inout ProcessContext, _ tables: inout ProfileTables) {
        // A library's BEGIN and COMMIT are not in the program's hands.
        guard case .sql(let statement) = event.detail, event.parent == 0, [.read, .write].contains(statement.type),
            let sql = context.dictionary.statement(statement.statement)?.sql
        else { return }
        let key = StatementSite(sql: sql, site: context.stackSite(of: event))
        guard hasRoom(for: key, among: Self.capacity) else { return }
        evidence[key, default: PreparationEvidence()].add(statement, event)
    }

    mutating func finish(in context: inout ProcessContext, _ tables: inout ProfileTables) {}
}

extension Profile {
    /// The times of preparing and running statements, outside any operation of an object store.
    public var preparations: [(key: StatementSite, evidence: PreparationEvidence)] {
        evidence(of: PreparationDetector.self)
    }
}
