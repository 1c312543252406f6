/// The cost of prefetching a key path with fetches and their batches.
public struct PrefetchUse: Sendable, Hashable {
    /// The number of fetches and batches for which rows had to be read.
    public internal(set) var loads: UInt64 = 0
    public internal(set) var trips: UInt64 = 0
    public internal(set) var rows: UInt64 = 0
    public internal(set) var bytes: UInt64 = 0
    /// The time of prefetching in those fetches and batches, and their total time, in nanoseconds.
    public internal(set) var time: UInt64 = 0
    public internal(set) var loadTime: UInt64 = 0
    /// The time of prefetching in fetches and batches whose rows the row cache already held, in nanoseconds.
    public internal(set) var cachedTime: UInt64 = 0

    /// The time of prefetching, whether or not rows had to be read, in nanoseconds.
    public var totalTime: UInt64 { time &+ cachedTime }
}

extension PrefetchUse: Summed, StartsEmpty {
    static let parts: [SumPart<PrefetchUse>] = [
        .sum("loads", \.loads), .sum("trips", \.trips), .sum("rows", \.rows), .sum("bytes", \.bytes),
        .sum("time", \.time), .sum("loadTime", \.loadTime), .sum("cachedTime", \.cachedTime),
    ]
}
