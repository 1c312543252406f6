public import FaultlineTrace

/// Scopes of one name and kind, summed up.
public struct ScopeSummary: Sendable {
    public struct Key: Sendable, Hashable {
        public var name: String
        public var kind: TraceEvent.Scope.Kind
    }

    public internal(set) var key: Key
    /// How often one was opened.
    public internal(set) var count: UInt64 = 0
    /// Those among them in which events were lost.
    var lossy: UInt64 = 0
    /// How often one was closed, opened in the trace or not.
    var ends: UInt64 = 0
    /// How long those that were closed were open, in nanoseconds.
    public internal(set) var wallTimes = Distribution()
    /// Time in the store within them and the scopes inside them, in nanoseconds.
    public var storeTime: UInt64 { UInt64(max(0, netTime)) }
    /// Round trips within them and the scopes inside them.
    public internal(set) var trips: UInt64 = 0
    /// Rows that came from SQLite within them and the scopes inside them.
    public internal(set) var rows: UInt64 = 0
    /// The most round trips, and the most rows, of one of them.
    public internal(set) var mostTrips: UInt64 = 0
    public internal(set) var mostRows: UInt64 = 0

    var netTime: Int64 = 0

    init(_ key: Key) {
        self.key = key
    }

    /// Takes in what one scope asked for in all.
    mutating func observeOne(trips: UInt64, rows: UInt64, isLossy: Bool) {
        lossy &+= isLossy ? 1 : 0
        mostTrips = max(mostTrips, trips)
        mostRows = max(mostRows, rows)
    }
}

extension ScopeSummary: KeyedSum {
    static let parts: [SumPart<ScopeSummary>] = [
        .sum("count", \.count), .sum("ends", \.ends), .sum("lossy", \.lossy), .sum("trips", \.trips),
        .sum("rows", \.rows), .maximum("mostTrips", \.mostTrips), .maximum("mostRows", \.mostRows),
        .part("wallTimes", \.wallTimes), .part("netTime", \.netTime),
    ]
}
