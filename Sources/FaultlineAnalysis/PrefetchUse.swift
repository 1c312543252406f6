/// The cost of prefetching a key path with fetches and their batches.
public struct PrefetchUse: Sendable, Hashable {
    /// Fetches and batches for which something had to be read.
    public internal(set) var loads: UInt64 = 0
    public internal(set) var trips: UInt64 = 0
    public internal(set) var rows: UInt64 = 0
    public internal(set) var bytes: UInt64 = 0
    /// In nanoseconds, including the look-ups of rows that the row cache already held.
    public internal(set) var time: UInt64 = 0
    /// The part of ``time`` in fetches and batches for which something had to be read, and their total time, in nanoseconds.
    public internal(set) var readTime: UInt64 = 0
    public internal(set) var loadTime: UInt64 = 0
}

extension PrefetchUse: Summed, StartsEmpty {
    static let parts: [SumPart<PrefetchUse>] = [
        .sum("loads", \.loads), .sum("trips", \.trips), .sum("rows", \.rows), .sum("bytes", \.bytes),
        .sum("time", \.time), .sum("readTime", \.readTime), .sum("loadTime", \.loadTime),
    ]
}
