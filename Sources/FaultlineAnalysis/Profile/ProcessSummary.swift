public import FaultlineTrace

/// What one process recorded.
public struct ProcessSummary: Sendable, Hashable {
    /// The kernel's number of the process.
    public let process: UInt32
    /// The program's path; empty: its first line was lost.
    public internal(set) var program = ""
    /// Whether it is known to be an app with screens, although its recording cannot mark any.
    var isApp = false
    /// When its recording began, in seconds since 1970; 0: not known.
    var date: Double = 0
    /// What the recording cannot tell.
    public internal(set) var gaps: Set<TraceGap> = []
    /// When its recording began, or its first event in the trace did, in nanoseconds since the trace began.
    public internal(set) var start: UInt64 = 0
    /// When its last event ended, or its recording did, in nanoseconds since the trace began.
    public internal(set) var end: UInt64 = 0
    /// How the recording ended, by its own last line; `nil`: there is none.
    public internal(set) var ended: ProcessEnded?
    /// How many threads recorded.
    public internal(set) var threads: UInt64 = 0
    /// Events that were reported as lost on the way.
    public internal(set) var reportedLost: UInt64 = 0
    public internal(set) var counts = ProfileCounts()

    init(process: UInt32) {
        self.process = process
    }

    /// How long the process was recorded, in nanoseconds.
    public var wallTime: UInt64 { end > start ? end - start : 0 }
    /// Events that were lost because a buffer was full.
    public var lost: UInt64 { max(reportedLost, ended?.lost ?? 0) }
    /// Whether the process closed its recording itself; otherwise it was killed, or still runs.
    public var isClosed: Bool { ended?.isClosed ?? false }
}

/// What happened between a program and its store, in numbers that add up.
public struct ProfileCounts: Sendable, Hashable {
    /// Events by kind.
    public internal(set) var events: [EventKind: UInt64] = [:]
    /// Time in the store, in nanoseconds; what happens within a fetch, a fault or a save counts once.
    public var storeTime: UInt64 { UInt64(max(0, netTime)) }
    /// The same on main threads, in nanoseconds.
    public var mainThreadStoreTime: UInt64 { UInt64(max(0, netMainThreadTime)) }
    /// Events that happened within no other, by kind.
    public internal(set) var outermostEvents: [EventKind: UInt64] = [:]
    /// Their time, in nanoseconds.
    public internal(set) var outermostTime: [EventKind: UInt64] = [:]
    /// Statements that read rows: round trips.
    public internal(set) var reads: UInt64 = 0
    /// Those among them that happened within no other event.
    public internal(set) var outermostReads: UInt64 = 0
    /// Statements that wrote rows.
    public internal(set) var writes: UInt64 = 0
    /// Statements that began or ended a transaction.
    public internal(set) var transactions: UInt64 = 0
    /// Statements that made tables or set pragmas.
    public internal(set) var schemaStatements: UInt64 = 0
    /// Round trips that fetches, batches and faults say they made.
    public internal(set) var claimedTrips: UInt64 = 0
    /// Rows that came from SQLite.
    public internal(set) var rowsLoaded: UInt64 = 0
    /// Bytes of column values that were read.
    public internal(set) var bytesRead: UInt64 = 0
    /// Bytes of column values that were written.
    public internal(set) var bytesWritten: UInt64 = 0
    /// Rows that the row cache evicted, and the bytes of memory that they took.
    public internal(set) var rowsEvicted: UInt64 = 0
    public internal(set) var bytesEvicted: UInt64 = 0
    /// Time that recording took from the program, in nanoseconds; an estimate from sampled events.
    public internal(set) var overhead: UInt64 = 0
    /// Events of the kinds that have call sites.
    public internal(set) var eventsWithPlace: UInt64 = 0
    /// Those among them that no call site was found for.
    public internal(set) var eventsWithoutSite: UInt64 = 0
    /// Those among them with a stack.
    public internal(set) var eventsWithStack: UInt64 = 0
    /// Those whose stack ended before the program's did.
    public internal(set) var truncatedStacks: UInt64 = 0
    /// Those whose stack has no frame with a name.
    public internal(set) var unresolvedStacks: UInt64 = 0
    /// Use summaries of results that the program still held.
    public internal(set) var openUses: UInt64 = 0
    /// Faults that went to the store.
    public internal(set) var faultTrips: UInt64 = 0
    /// Those among them that do not say which fetch their object came from.
    public internal(set) var faultTripsWithoutOrigin: UInt64 = 0
    /// Those among them whose fetch the trace does not hold.
    public internal(set) var faultTripsWithUnknownOrigin: UInt64 = 0
    /// Events that happened outside any scope.
    public internal(set) var eventsOutsideScopes: UInt64 = 0

    /// Events that overlap with the one before on their thread, of those that happened within no other.
    var overlaps: UInt64 = 0

    var netTime: Int64 = 0
    var netMainThreadTime: Int64 = 0

    /// Round trips that read: statements if the trace has them, else what the other events say.
    public var readTrips: UInt64 { events[.sql] == nil ? claimedTrips : reads }

    /// Events of all kinds.
    public var eventCount: UInt64 { events.values.reduce(0, &+) }

    public mutating func merge(_ other: ProfileCounts) { mergeParts(other) }
}

extension ProfileCounts: Summed, StartsEmpty {
    static let parts: [SumPart<ProfileCounts>] = [
        .part("events", \.events), .part("outermostEvents", \.outermostEvents),
        .part("outermostTime", \.outermostTime), .sum("reads", \.reads), .sum("outermostReads", \.outermostReads),
        .sum("writes", \.writes), .sum("transactions", \.transactions),
        .sum("schemaStatements", \.schemaStatements), .sum("claimedTrips", \.claimedTrips),
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
