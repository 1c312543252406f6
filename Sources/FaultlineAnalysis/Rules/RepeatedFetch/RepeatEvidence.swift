public import FaultlineTrace

/// Fetches of one shape from one line that were made again with the same values, although nothing that they read had been
/// written since.
public struct RepeatEvidence: Sendable {
    /// Times that a fetch was made again like this within one scope.
    public internal(set) var occurrences: UInt64 = 0
    /// Those among them in which events were lost.
    public internal(set) var lossyOccurrences: UInt64 = 0
    /// Those among them that came at regular intervals, as of a timer.
    public internal(set) var regularOccurrences: UInt64 = 0
    /// Fetches, the first of each time included.
    public internal(set) var executions: UInt64 = 0
    /// The most fetches at one time.
    public internal(set) var most: UInt64 = 0
    /// The fetches' time, in nanoseconds.
    public internal(set) var time: UInt64 = 0
    public internal(set) var mainThreadTime: UInt64 = 0
    /// The time of the longest fetch of each time, in nanoseconds.
    public internal(set) var longest: UInt64 = 0
    /// Round trips of the fetches but the first of each time, and rows that those loaded.
    public internal(set) var trips: UInt64 = 0
    public internal(set) var rows: UInt64 = 0
    /// Lines that the fetches' functions were called from, and how often, but for the first of each time.
    public internal(set) var callers: [CallSite: UInt64] = [:]
    public internal(set) var scopes: [ScopeSummary.Key: UInt64] = [:]
    /// Wall time of the scopes concerned, in nanoseconds; without scopes from the first fetch to the last.
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
