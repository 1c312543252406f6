internal import FaultlineTrace

/// What the program read of the rows that one statement returned at one line, outside any operation of an object store.
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
