public import FaultlineTrace

/// Consecutive runs of one statement at one line, outside any operation of an object store.
///
/// It includes only runs that passed the threshold within one scope or unit of work.
public struct StatementLoopEvidence: Sendable {
    public typealias Key = StatementSite

    /// The number of loops.
    public internal(set) var occurrences: UInt64 = 0
    /// The number of loops in which events were lost.
    public internal(set) var lossyOccurrences: UInt64 = 0
    /// The number of loops in which SQLAlchemy read objects again because they had expired.
    public internal(set) var expiredOccurrences: UInt64 = 0
    /// The runs of the statement.
    public internal(set) var executions: UInt64 = 0
    public internal(set) var rows: UInt64 = 0
    /// The runs' time in SQLite, in nanoseconds.
    public internal(set) var time: UInt64 = 0
    public internal(set) var mainThreadTime: UInt64 = 0
    /// The time between the runs that was not spent in SQLite, in nanoseconds.
    public internal(set) var waiting: UInt64 = 0
    /// The lines that called the functions with the runs, with the number of calls.
    public internal(set) var callers: [CallSite: UInt64] = [:]
    /// The statements whose rows the loops went through, with the number of these rows.
    public internal(set) var origins: [StatementSite: UInt64] = [:]
    /// The libraries that ran the statement for the program, as names of ``StatementLibrary``.
    public internal(set) var libraries: Set<String> = []
    public internal(set) var scopes: [ScopeSummary.Key: UInt64] = [:]
    /// The wall time of the scopes, or without scopes from the first run to the last, in nanoseconds.
    public internal(set) var wallTime: UInt64 = 0
}

extension StatementLoopEvidence {
    /// Whether SQLAlchemy read objects again because they had expired, in all loops.
    var readsExpired: Bool { expiredOccurrences > 0 && expiredOccurrences == occurrences }
}

extension StatementLoopEvidence: Summed, RepetitionEvidence {
    static let parts: [SumPart<StatementLoopEvidence>] = [
        .sum("occurrences", \.occurrences), .sum("lossyOccurrences", \.lossyOccurrences),
        .sum("expiredOccurrences", \.expiredOccurrences),
        .sum("executions", \.executions), .sum("rows", \.rows), .sum("time", \.time),
        .sum("mainThreadTime", \.mainThreadTime), .sum("waiting", \.waiting), .sum("wallTime", \.wallTime),
        .part("callers", \.callers), .part("origins", \.origins), .union("libraries", \.libraries),
        .part("scopes", \.scopes),
    ]
}
