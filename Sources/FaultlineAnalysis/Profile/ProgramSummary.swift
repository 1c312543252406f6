public import FaultlineTrace

/// A summary of the processes of one program, which can be merged.
public struct ProgramSummary: Sendable, Hashable {
    public internal(set) var processes: UInt64 = 0
    /// Processes without an end in their trace.
    public internal(set) var unended: UInt64 = 0
    /// Processes that did not close their recording, including those without an end.
    public internal(set) var unclosed: UInt64 = 0
    /// The summed durations of the recordings, in nanoseconds.
    public internal(set) var wallTime: UInt64 = 0
    /// The duration of each recording times its number of threads, summed, in nanoseconds.
    public internal(set) var threadTime: UInt64 = 0
    /// Events that were lost because a buffer was full.
    public internal(set) var lost: UInt64 = 0
    /// Lines that could not be written.
    public internal(set) var unwritten: UInt64 = 0
    /// Earlier events that were removed to keep traces below their maximum size.
    public internal(set) var removed: UInt64 = 0
    /// Dictionary entries and use summaries that were lost because their buffer was full.
    public internal(set) var entriesLost: UInt64 = 0
    public internal(set) var usesLost: UInt64 = 0
    /// The CPU time spent writing the traces, in nanoseconds.
    public internal(set) var writing: UInt64 = 0
    public internal(set) var counts = ProfileCounts()
    /// The number of processes whose recordings lack a kind of data, by the gap's word.
    var gapCounts: [String: UInt64] = [:]
    /// The kinds of data that the recordings of all processes lack.
    public var gaps: Set<TraceGap> {
        Set(gapCounts.filter { $0.value >= processes }.keys.compactMap(TraceGap.init(word:)))
    }

    /// Whether the recordings of all processes lack a kind of data.
    package func lacks(_ kind: TraceGap.Kind) -> Bool { gaps.contains { $0.kind.missing.contains(kind) } }

    /// Whether the recording of any process lacks a kind of data.
    ///
    /// A sum over all processes would be too low.
    func partlyLacks(_ kind: TraceGap.Kind) -> Bool {
        gapCounts.keys.contains { TraceGap(word: $0)?.kind.missing.contains(kind) == true }
    }

    mutating func add(_ process: ProcessSummary) {
        processes &+= 1
        unended &+= process.ended == nil ? 1 : 0
        unclosed &+= process.isClosed ? 0 : 1
        wallTime &+= process.wallTime
        threadTime &+= process.wallTime &* max(1, process.threads)
        lost &+= process.lost
        unwritten &+= process.ended?.unwritten ?? 0
        removed &+= process.removed
        entriesLost &+= process.ended?.entriesLost ?? 0
        usesLost &+= process.ended?.usesLost ?? 0
        writing &+= process.ended?.writing ?? 0
        counts.merge(process.counts)
        for gap in process.gaps { gapCounts[gap.word, default: 0] &+= 1 }
    }
}

extension ProgramSummary: Summed, StartsEmpty {
    static let parts: [SumPart<ProgramSummary>] = [
        .sum("processes", \.processes), .sum("unended", \.unended), .sum("unclosed", \.unclosed),
        .sum("wallTime", \.wallTime), .sum("threadTime", \.threadTime), .sum("lost", \.lost),
        .sum("unwritten", \.unwritten), .sum("removed", \.removed), .sum("entriesLost", \.entriesLost),
        .sum("usesLost", \.usesLost),
        .sum("writing", \.writing), .part("counts", \.counts),
        .part("gapCounts", \.gapCounts),
    ]
}
