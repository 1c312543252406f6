package import FaultlineTrace

/// A summary of one process's recording.
package struct ProcessSummary: Sendable, Hashable {
    /// The process ID.
    package let process: UInt32
    /// The program's path, or empty if its first line was lost.
    package internal(set) var program = ""
    /// Whether the process is an app with screens whose recording cannot mark them.
    package var isApp = false
    /// The start of the recording, in seconds since 1970, or 0 if unknown.
    var date: Double = 0
    /// Whether Core Data's own tools recorded the process, so that advice is about Core Data's API.
    var usesCoreData = false
    /// The library that wrote the log of the process's statements; `nil` for other recordings.
    var library: StatementLibrary?
    /// The kinds of data that the recording lacks.
    package internal(set) var gaps: Set<TraceGap> = []
    /// The start of the recording, or of its first event, in nanoseconds since the trace began.
    package internal(set) var start: UInt64 = 0
    /// The end of the last event or of the recording, in nanoseconds since the trace began.
    package internal(set) var end: UInt64 = 0
    /// The recording's own last line, or `nil` if it has none.
    package internal(set) var ended: ProcessEnded?
    /// The number of threads that recorded events.
    package internal(set) var threads: UInt64 = 0
    /// The number of events that were reported as lost.
    package internal(set) var reportedLost: UInt64 = 0
    /// The number of earlier events of the trace that were removed to keep it short.
    package internal(set) var removed: UInt64 = 0
    package var counts = ProfileCounts()

    init(process: UInt32) {
        self.process = process
    }

    /// The duration of the recording, in nanoseconds.
    package var wallTime: UInt64 { end > start ? end - start : 0 }
    /// The number of events that were lost because a buffer was full.
    package var lost: UInt64 { max(reportedLost, ended?.lost ?? 0) }
    /// Whether the process closed its recording.
    ///
    /// If not, it was killed or still runs.
    package var isClosed: Bool { ended?.isClosed ?? false }
}

/// Counts of the work between a program and its store, which can be summed.
public struct ProfileCounts: Sendable, Hashable {
    /// Events by kind.
    package internal(set) var events: [EventKind: UInt64] = [:]
    /// The time in the store, in nanoseconds.
    ///
    /// Nested events count once.
    package var storeTime: UInt64 { UInt64(max(0, netTime)) }
    /// The time in the store on main threads, in nanoseconds.
    package var mainThreadStoreTime: UInt64 { UInt64(max(0, netMainThreadTime)) }
    /// Outermost events by kind.
    package internal(set) var outermostEvents: [EventKind: UInt64] = [:]
    /// The time of outermost events by kind, in nanoseconds.
    package internal(set) var outermostTime: [EventKind: UInt64] = [:]
    /// Faults that the row cache filled, as far as they were recorded in sums.
    package internal(set) var countedHits: UInt64 = 0
    /// All faults that were recorded, one by one or in sums.
    package var faults: UInt64 { events[.fault, default: 0] &+ countedHits }
    /// Statements that read rows: round trips.
    package internal(set) var reads: UInt64 = 0
    /// Statements that read rows outside any other event.
    package internal(set) var outermostReads: UInt64 = 0
    /// Statements that wrote rows.
    package internal(set) var writes: UInt64 = 0
    /// Statements that wrote rows outside any other event.
    package internal(set) var outermostWrites: UInt64 = 0
    /// Statements that began or ended a transaction.
    package internal(set) var transactions: UInt64 = 0
    /// Statements that created tables or set pragmas.
    package internal(set) var schemaStatements: UInt64 = 0
    /// Calls that read or wrote a blob, made a backup or a checkpoint.
    package internal(set) var otherCalls: UInt64 = 0
    /// Round trips that fetches, batches and faults report.
    package internal(set) var claimedTrips: UInt64 = 0
    /// Rows that SQLite returned.
    package internal(set) var rowsLoaded: UInt64 = 0
    /// Bytes of column values that were read.
    package internal(set) var bytesRead: UInt64 = 0
    /// Bytes of column values that were written.
    package internal(set) var bytesWritten: UInt64 = 0
    /// Rows that the row cache evicted, and the bytes of memory they took.
    package internal(set) var rowsEvicted: UInt64 = 0
    package internal(set) var bytesEvicted: UInt64 = 0
    /// The estimated time that recording took from the program, in nanoseconds, from sampled events.
    public internal(set) var overhead: UInt64 = 0
    /// Events of the kinds that have call sites.
    package internal(set) var eventsWithPlace: UInt64 = 0
    /// Events of these kinds without a call site.
    package internal(set) var eventsWithoutSite: UInt64 = 0
    /// Events of these kinds with a stack.
    package internal(set) var eventsWithStack: UInt64 = 0
    /// Events with a truncated stack.
    package internal(set) var truncatedStacks: UInt64 = 0
    /// Events whose stack has no frame with a name.
    package internal(set) var unresolvedStacks: UInt64 = 0
    /// Use summaries of results that the program still held.
    package internal(set) var openUses: UInt64 = 0
    /// Faults that went to the store.
    package internal(set) var faultTrips: UInt64 = 0
    /// Faults that went to the store and do not name the fetch their object came from.
    package var faultTripsWithoutOrigin: UInt64 = 0
    /// Faults that went to the store and whose fetch is not in the trace.
    package var faultTripsWithUnknownOrigin: UInt64 = 0
    /// Events outside any scope.
    package internal(set) var eventsOutsideScopes: UInt64 = 0

    /// Outermost events that partly overlap the previous one on their thread.
    package var overlaps: UInt64 = 0

    var netTime: Int64 = 0
    var netMainThreadTime: Int64 = 0

    package init() {}

    /// The round trips that read rows: the statements if the trace has them, or else those that other events report.
    package var readTrips: UInt64 { events[.sql] == nil ? claimedTrips : reads }

    /// Events of all kinds.
    package var eventCount: UInt64 { events.values.reduce(0, &+) }

    package mutating func merge(_ other: ProfileCounts) { mergeParts(other) }
}

extension ProfileCounts: Summed, StartsEmpty {
    package static let parts: [SumPart<ProfileCounts>] = [
        .part("events", \.events), .part("outermostEvents", \.outermostEvents),
        .part("outermostTime", \.outermostTime), .sum("countedHits", \.countedHits),
        .sum("reads", \.reads), .sum("outermostReads", \.outermostReads),
        .sum("writes", \.writes), .sum("outermostWrites", \.outermostWrites), .sum("transactions", \.transactions),
        .sum("schemaStatements", \.schemaStatements), .sum("otherCalls", \.otherCalls),
        .sum("claimedTrips", \.claimedTrips),
        .sum("rowsLoaded", \.rowsLoaded), .sum("bytesRead", \.bytesRead), .sum("bytesWritten", \.bytesWritten),
        .sum("rowsEvicted", \.rowsEvicted), .sum("bytesEvicted", \.bytesEvicted),
        .sum("overhead", \.overhead), .sum("eventsWithPlace", \.eventsWithPlace),
        .sum("eventsWithoutSite", \.eventsWithoutSite), .sum("eventsWithStack", \.eventsWithStack),
        .sum("truncatedStacks", \.truncatedStacks), .sum("unresolvedStacks", \.unresolvedStacks),
        .sum("openUses", \.openUses), .sum("overlaps", \.overlaps), .sum("faultTrips", \.faultTrips),
        .sum("faultTripsWithoutOrigin", \.faultTripsWithoutOrigin),
        .sum("faultTripsWithUnknownOrigin", \.faultTripsWithUnknownOrigin),
        .sum("eventsOutsideScopes", \.eventsOutsideScopes), .part("netTime", \.netTime),
        .part("netMainThreadTime", \.netMainThreadTime),
    ]
}

/// A summary of the processes of one program, which can be merged.
package struct ProgramSummary: Sendable, Hashable {
    package internal(set) var processes: UInt64 = 0
    /// Processes without an end in their trace.
    package internal(set) var unended: UInt64 = 0
    /// Processes that did not close their recording, including those without an end.
    package internal(set) var unclosed: UInt64 = 0
    /// The summed durations of the recordings, in nanoseconds.
    package internal(set) var wallTime: UInt64 = 0
    /// The duration of each recording times its number of threads, summed, in nanoseconds.
    package internal(set) var threadTime: UInt64 = 0
    /// Events that were lost because a buffer was full.
    package internal(set) var lost: UInt64 = 0
    /// Lines that could not be written.
    package internal(set) var unwritten: UInt64 = 0
    /// Earlier events that were removed to keep traces below their maximum size.
    package internal(set) var removed: UInt64 = 0
    /// Dictionary entries and use summaries that were lost because their buffer was full.
    package internal(set) var entriesLost: UInt64 = 0
    package internal(set) var usesLost: UInt64 = 0
    /// The CPU time spent writing the traces, in nanoseconds.
    package internal(set) var writing: UInt64 = 0
    package internal(set) var counts = ProfileCounts()
    /// Processes that Core Data's own tools recorded.
    package internal(set) var coreDataProcesses: UInt64 = 0
    /// The number of processes whose recordings lack a kind of data, by the gap's word.
    var gapCounts: [String: UInt64] = [:]

    package init() {}

    /// The kinds of data that the recordings of all processes lack.
    package var gaps: Set<TraceGap> {
        Set(gapCounts.filter { $0.value >= processes }.keys.compactMap(TraceGap.init(word:)))
    }

    /// Whether all processes use Core Data, as opposed to Faultline's store or SQLite.
    package var usesCoreData: Bool { processes > 0 && coreDataProcesses == processes }

    /// Whether the recordings of all processes lack a kind of data.
    package func lacks(_ kind: TraceGap.Kind) -> Bool { gaps.contains { $0.kind.missing.contains(kind) } }

    /// Whether the recording of any process lacks a kind of data.
    ///
    /// A sum over all processes would be too low.
    package func partlyLacks(_ kind: TraceGap.Kind) -> Bool {
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
        coreDataProcesses &+= process.usesCoreData ? 1 : 0
        counts.merge(process.counts)
        for gap in process.gaps { gapCounts[gap.word, default: 0] &+= 1 }
    }
}

extension ProgramSummary {
    /// The mean over a number of recordings, with at least one process.
    ///
    /// What holds for all processes, and only that, holds for those of the mean.
    func mean(of recordings: UInt64) -> ProgramSummary {
        let number = { (processes: UInt64) in (processes &+ (recordings &- 1)) / recordings }
        let mean = max(1, number(processes))
        let all = { (count: UInt64) in count >= self.processes ? mean : min(number(count), mean &- 1) }
        var program = self
        program.divide(by: recordings)
        program.processes = mean
        (program.unended, program.unclosed) = (number(unended), number(unclosed))
        program.coreDataProcesses = all(coreDataProcesses)
        program.gapCounts = gapCounts.mapValues(all)
        return program
    }
}

extension ProgramSummary: Summed, StartsEmpty {
    package static let parts: [SumPart<ProgramSummary>] = [
        .sum("processes", \.processes), .sum("unended", \.unended), .sum("unclosed", \.unclosed),
        .sum("wallTime", \.wallTime), .sum("threadTime", \.threadTime), .sum("lost", \.lost),
        .sum("unwritten", \.unwritten), .sum("removed", \.removed), .sum("entriesLost", \.entriesLost),
        .sum("usesLost", \.usesLost),
        .sum("writing", \.writing), .sum("coreDataProcesses", \.coreDataProcesses), .part("counts", \.counts),
        .part("gapCounts", \.gapCounts),
    ]
}
