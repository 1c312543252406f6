internal import FaultlineTrace

/// A measure that a budget can limit.
struct Measure<Subject>: Sendable {
    let name: String
    let unit: Budget.Limit.Unit
    /// The data that a recording must have for the measure.
    var needs: TraceGap.Kind?
    /// The figure to compare with the limit: a sum over a whole trace, or the largest value of a scope.
    let value: @Sendable (Subject) -> UInt64
}

extension Measure<ProfileCounts> {
    /// The measures of a whole trace, which are sums.
    static var ofTraces: [Self] {
        [
            Measure(name: "trips", unit: .count) { $0.readTrips },
            Measure(name: "rows", unit: .count, needs: .rows) { $0.rowsLoaded },
            Measure(name: "fetches", unit: .count, needs: .operations) { $0.events[.fetch] ?? 0 },
            Measure(name: "cacheMisses", unit: .count, needs: .operations) { $0.faultTrips },
            Measure(name: "saves", unit: .count, needs: .operations) { $0.events[.save] ?? 0 },
            Measure(name: "writes", unit: .count, needs: .statements) { $0.writes },
            Measure(name: "bytesRead", unit: .size, needs: .sizes) { $0.bytesRead },
            Measure(name: "bytesWritten", unit: .size, needs: .sizes) { $0.bytesWritten },
            Measure(name: "storeTime", unit: .time) { $0.storeTime },
            Measure(name: "mainThreadStoreTime", unit: .time, needs: .threads) { $0.mainThreadStoreTime },
        ]
    }
}

extension Measure<ScopeSummary> {
    /// The measures of a scope: the maximum over all scopes of a name, or the 95th percentile of their times.
    static var ofScopes: [Self] {
        [
            Measure(name: "trips", unit: .count) { $0.mostTrips },
            Measure(name: "rows", unit: .count) { $0.mostRows },
            Measure(name: "time", unit: .time) { $0.wallTimes.percentile(95) },
        ]
    }
}
