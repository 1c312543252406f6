public import FaultlineTrace

/// Runs of one statement at one line with the same values, although nothing was written in between.
///
/// It includes only runs that passed the threshold within one scope or unit of work.
public struct RepeatedStatementEvidence: Sendable {
    public typealias Key = StatementSite

    /// The number of groups of equal runs, each within one scope or unit of work.
    public internal(set) var occurrences: UInt64 = 0
    /// The number of groups in which events were lost.
    public internal(set) var lossyOccurrences: UInt64 = 0
    /// The runs, including the first of each group.
    public internal(set) var executions: UInt64 = 0
    /// The most runs in one group.
    public internal(set) var most: UInt64 = 0
    public internal(set) var rows: UInt64 = 0
    /// The runs' time in SQLite, in nanoseconds.
    public internal(set) var time: UInt64 = 0
    public internal(set) var mainThreadTime: UInt64 = 0
    /// The total time of each group's longest run, in nanoseconds.
    public internal(set) var longest: UInt64 = 0
    /// The time between the runs that was not spent in SQLite, in nanoseconds.
    public internal(set) var waiting: UInt64 = 0
    /// The lines that called the functions with the runs, with the number of calls.
    public internal(set) var callers: [CallSite: UInt64] = [:]
    /// The libraries that ran the statement for the program, as names of ``StatementLibrary``.
    public internal(set) var libraries: Set<String> = []
    public internal(set) var scopes: [ScopeSummary.Key: UInt64] = [:]
    /// The wall time of the scopes, or without scopes from the first run to the last, in nanoseconds.
    public internal(set) var wallTime: UInt64 = 0
}

extension RepeatedStatementEvidence: Summed, RepetitionEvidence {
    static let parts: [SumPart<RepeatedStatementEvidence>] = [
        .sum("occurrences", \.occurrences), .sum("lossyOccurrences", \.lossyOccurrences),
        .sum("executions", \.executions), .maximum("most", \.most), .sum("rows", \.rows), .sum("time", \.time),
        .sum("mainThreadTime", \.mainThreadTime), .sum("longest", \.longest), .sum("waiting", \.waiting),
        .sum("wallTime", \.wallTime), .part("callers", \.callers), .union("libraries", \.libraries),
        .part("scopes", \.scopes),
    ]
}
