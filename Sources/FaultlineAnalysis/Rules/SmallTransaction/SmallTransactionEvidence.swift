public import FaultlineTrace

/// Consecutive transactions that write one or two statements each.
///
/// It includes only transactions that passed the threshold within one scope or unit of work.
public struct SmallTransactionEvidence: Sendable {
    /// The last statement that wrote.
    public typealias Key = StatementSite

    /// The number of groups of consecutive transactions.
    public internal(set) var occurrences: UInt64 = 0
    /// The number of groups in which events were lost.
    public internal(set) var lossyOccurrences: UInt64 = 0
    public internal(set) var transactions: UInt64 = 0
    /// The transactions that SQLite began by itself for one statement.
    public internal(set) var implicit: UInt64 = 0
    /// The rows that were written.
    public internal(set) var rows: UInt64 = 0
    /// The transactions' time in SQLite, in nanoseconds.
    public internal(set) var time: UInt64 = 0
    public internal(set) var mainThreadTime: UInt64 = 0
    /// The part of that time in which SQLite waited for the disk, in nanoseconds; 0 if it was not recorded.
    public internal(set) var syncTime: UInt64 = 0
    /// The time between the transactions that was not spent in SQLite, in nanoseconds.
    public internal(set) var waiting: UInt64 = 0
    /// The lines that called the functions with the statements, with the number of calls.
    public internal(set) var callers: [CallSite: UInt64] = [:]
    /// The libraries that ran the statement for the program, as names of ``StatementLibrary``.
    public internal(set) var libraries: Set<String> = []
    public internal(set) var scopes: [ScopeSummary.Key: UInt64] = [:]
    /// The wall time of the scopes, or without scopes from the first transaction to the last, in nanoseconds.
    public internal(set) var wallTime: UInt64 = 0
}

extension SmallTransactionEvidence: Summed, RepetitionEvidence {
    static let parts: [SumPart<SmallTransactionEvidence>] = [
        .sum("occurrences", \.occurrences), .sum("lossyOccurrences", \.lossyOccurrences),
        .sum("transactions", \.transactions), .sum("implicit", \.implicit), .sum("rows", \.rows), .sum("time", \.time),
        .sum("mainThreadTime", \.mainThreadTime), .sum("syncTime", \.syncTime), .sum("waiting", \.waiting),
        .sum("wallTime", \.wallTime),
        .part("callers", \.callers), .union("libraries", \.libraries), .part("scopes", \.scopes),
    ]
}
