internal import FaultlineProfile
internal import FaultlineTrace

/// Detects what a program reads of the rows of statements, outside any operation of an object store.
struct ColumnReadDetector: EvidenceDetector {
    static let name = "columnReads"
    static let kinds: Set<EventKind> = [.sql]
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
        let surroundings = surroundings(of: event.scope, for: key, outside: event.duration, in: &context)
        var found = ColumnReadEvidence()
        found.add(statement, event, in: surroundings, by: context.library(on: event.stack))
        found.countedRuns = statement.columnsRead == 0 ? 1 : 0
        let names = entry.columns ?? []
        for position in 0..<Int(statement.columns) {
            let column = ColumnReadEvidence.numbered(position, position < names.count ? names[position] : nil)
            found.columns.insert(column)
            if statement.columnsRead >> UInt64(position) & 1 == 1 { found.read.insert(column) }
        }
        add(found, to: key)
    }

    mutating func finish(in context: inout ProcessContext, _ tables: inout ProfileTables) {}
}

extension Profile {
    /// The columns that the program read of the rows of statements outside any operation of an object store, if that was recorded.
    var columnReads: [(key: StatementSite, evidence: ColumnReadEvidence)] {
        evidence(of: ColumnReadDetector.self)
    }
}

/// The columns that the program read of the rows that one statement returned at one line, outside any operation of an object store.
struct ColumnReadEvidence: RunEvidence {
    var runs = RunSums()
    /// The runs whose columns the program never read.
    var countedRuns: UInt64 = 0
    /// The columns of a row, and those that some run read, each with its position and name.
    var columns: Set<String> = []
    var read: Set<String> = []
}

extension ColumnReadEvidence {
    /// Whether all runs only stepped over their rows.
    var isCountedOnly: Bool { countedRuns == runs.executions }

    /// The names of columns in their order.
    var readColumns: [String] { Self.names(read) }
    var unreadColumns: [String] { Self.names(columns.subtracting(read)) }

    /// A column with its position, which orders it and distinguishes it from others of the same name.
    static func numbered(_ position: Int, _ name: String?) -> String {
        (position < 10 ? "0" : "") + "\(position) " + (name ?? "column \(position + 1)")
    }

    private static func names(_ columns: Set<String>) -> [String] {
        columns.sorted().map { String($0.drop { $0 != " " }.dropFirst()) }
    }
}

extension ColumnReadEvidence {
    static let parts: [SumPart<ColumnReadEvidence>] = [
        .members(\.runs), .sum("countedRuns", \.countedRuns), .union("columns", \.columns), .union("read", \.read),
    ]
}
