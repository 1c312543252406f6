package import FaultlineTrace

/// A summary of the scopes of one name and kind.
package struct ScopeSummary: Sendable {
    package struct Key: Sendable, Hashable {
        package var name: String
        package var kind: TraceEvent.Scope.Kind
    }

    package internal(set) var key: Key
    /// The number of recordings that have such scopes.
    var recordings: UInt64 = 1
    /// The number of scopes that were opened.
    package internal(set) var count: UInt64 = 0
    /// The number of scopes in which events were lost.
    package var lossy: UInt64 = 0
    /// The number of scopes that were closed, whether or not they were opened in the trace.
    package var ends: UInt64 = 0
    /// The durations of the scopes that were closed, in nanoseconds.
    package internal(set) var wallTimes = Distribution()
    /// The time in the store in these scopes and their nested scopes, in nanoseconds.
    package var storeTime: UInt64 { UInt64(max(0, netTime)) }
    /// The round trips in these scopes and their nested scopes.
    package internal(set) var trips: UInt64 = 0
    /// The rows that SQLite returned in these scopes and their nested scopes.
    package internal(set) var rows: UInt64 = 0
    /// The most round trips, and the most rows, of a single scope.
    package internal(set) var mostTrips: UInt64 = 0
    package internal(set) var mostRows: UInt64 = 0

    var netTime: Int64 = 0

    init(_ key: Key) {
        self.key = key
    }

    /// Adds the totals of one scope.
    mutating func observeOne(trips: UInt64, rows: UInt64, isLossy: Bool) {
        lossy &+= isLossy ? 1 : 0
        mostTrips = max(mostTrips, trips)
        mostRows = max(mostRows, rows)
    }
}

extension ScopeSummary: KeyedSum {
    package static let parts: [SumPart<ScopeSummary>] = [
        .sum("count", \.count), .sum("ends", \.ends), .sum("lossy", \.lossy), .sum("trips", \.trips),
        .sum("rows", \.rows), .maximum("mostTrips", \.mostTrips), .maximum("mostRows", \.mostRows),
        .part("wallTimes", \.wallTimes), .part("netTime", \.netTime),
    ]
}

extension ScopeSummary.Key: ProfileKey {
    package var sortText: String { name + "\u{1}\(kind)" }
    package func stored(_ words: inout ProfileWords) -> StoredValue { words.number(of: self) }
    package init(_ value: StoredValue, _ words: ProfileWords) throws { self = try words.scope(value) }
}
