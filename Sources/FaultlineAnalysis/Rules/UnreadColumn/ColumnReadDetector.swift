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
    /// The columns that the program read of the rows of statements outside any operation of an object store, if that was recorded.
    public var columnReads: [(key: StatementSite, evidence: ColumnReadEvidence)] {
        evidence(of: ColumnReadDetector.self)
    }
}

/// The columns that the program read of the rows that one statement returned at one line, outside any operation of an object store.
public struct ColumnReadEvidence: Sendable {
    /// The runs that returned rows.
    public internal(set) var executions: UInt64 = 0
    public internal(set) var rows: UInt64 = 0
    /// The runs' time in SQLite, in nanoseconds.
    public internal(set) var time: UInt64 = 0
    public internal(set) var mainThreadTime: UInt64 = 0
    /// The runs whose columns the program never read.
    public internal(set) var countedRuns: UInt64 = 0
    /// The columns of a row, and those that some run read, each with its position and name.
    public internal(set) var columns: Set<String> = []
    public internal(set) var read: Set<String> = []
    /// The libraries that ran the statement for the program, as names of ``StatementLibrary``.
    public internal(set) var libraries: Set<String> = []
    public internal(set) var scopes: [ScopeSummary.Key: UInt64] = [:]
    /// The wall time of the scopes, or without scopes that of the runs, in nanoseconds.
    public internal(set) var wallTime: UInt64 = 0
}

extension ColumnReadEvidence {
    /// Whether all runs only stepped over their rows.
    var isCountedOnly: Bool { countedRuns == executions }

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

extension ColumnReadEvidence: Summed, StartsEmpty {
    static let parts: [SumPart<ColumnReadEvidence>] = [
        .sum("executions", \.executions), .sum("rows", \.rows), .sum("time", \.time),
        .sum("mainThreadTime", \.mainThreadTime), .sum("countedRuns", \.countedRuns), .union("columns", \.columns),
        .union("read", \.read), .union("libraries", \.libraries), .part("scopes", \.scopes),
        .sum("wallTime", \.wallTime),
    ]
}
