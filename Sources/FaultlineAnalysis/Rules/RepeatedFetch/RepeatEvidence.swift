public import FaultlineTrace

/// Fetches of one shape from one line that were repeated with the same values, although nothing they read had been
/// written since.
public struct RepeatEvidence: Sendable {
    /// The number of occurrences, each within one scope.
    public internal(set) var occurrences: UInt64 = 0
    /// The number of occurrences in which events were lost.
    public internal(set) var lossyOccurrences: UInt64 = 0
    /// The number of occurrences at regular intervals, as from a timer.
    public internal(set) var regularOccurrences: UInt64 = 0
    /// The number of fetches, including the first of each occurrence.
    public internal(set) var executions: UInt64 = 0
    /// The most fetches in one occurrence.
    public internal(set) var most: UInt64 = 0
    /// The fetches' time, in nanoseconds.
    public internal(set) var time: UInt64 = 0
    public internal(set) var mainThreadTime: UInt64 = 0
    /// The total time of each occurrence's longest fetch, in nanoseconds.
    public internal(set) var longest: UInt64 = 0
    /// The round trips of the fetches except the first of each occurrence, and the rows that they loaded.
    public internal(set) var trips: UInt64 = 0
    public internal(set) var rows: UInt64 = 0
    /// The lines that called the fetching functions, with the number of calls, except the first of each occurrence.
    public internal(set) var callers: [CallSite: UInt64] = [:]
    public internal(set) var scopes: [ScopeSummary.Key: UInt64] = [:]
    /// The wall time of the scopes, or without scopes from the first fetch to the last, in nanoseconds.
    public internal(set) var wallTime: UInt64 = 0
}

extension RepeatEvidence: Summed, StartsEmpty {
    static let parts: [SumPart<RepeatEvidence>] = [
        .sum("occurrences", \.occurrences), .sum("lossyOccurrences", \.lossyOccurrences),
        .sum("regularOccurrences", \.regularOccurrences), .sum("executions", \.executions), .sum("time", \.time),
        .sum("mainThreadTime", \.mainThreadTime), .sum("longest", \.longest), .sum("trips", \.trips),
        .sum("rows", \.rows), .sum("wallTime", \.wallTime), .maximum("most", \.most), .part("callers", \.callers),
        .part("scopes", \.scopes),
    ]
}
