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
    /// How long those that were closed were open, in nanoseconds.
    public internal(set) var wallTimes = Distribution()
    /// Time in the store within them and the scopes inside them, in nanoseconds.
    public var storeTime: UInt64 { UInt64(max(0, netTime)) }
    /// Round trips within them and the scopes inside them.
    public internal(set) var trips: UInt64 = 0

    var netTime: Int64 = 0

    init(_ key: Key) {
        self.key = key
    }
}

extension ScopeSummary: KeyedSum {
    static let parts: [SumPart<ScopeSummary>] = [
        .sum("count", \.count), .sum("trips", \.trips), .part("wallTimes", \.wallTimes),
        .part("netTime", \.netTime),
    ]
}
