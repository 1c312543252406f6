internal import FaultlineTrace

/// What can have a limit.
struct Measure<Subject>: Sendable {
    let name: String
    let unit: Budget.Limit.Unit
    /// What a recording must tell for it.
    var needs: TraceGap.Kind?
    /// The figure that is held against the limit; of a whole trace a sum, of scopes the largest of them.
    let value: @Sendable (Subject) -> UInt64
}

extension Measure<ProfileCounts> {
    /// Sums over a trace.
    static var ofTraces: [Self] {
        [
            Measure(name: "trips", unit: .count) { $0.readTrips },
            Measure(name: "rows", unit: .count) { $0.rowsLoaded },
            Measure(name: "fetches", unit: .count) { $0.events[.fetch] ?? 0 },
            Measure(name: "cacheMisses", unit: .count) { $0.faultTrips },
            Measure(name: "saves", unit: .count) { $0.events[.save] ?? 0 },
            Measure(name: "writes", unit: .count, needs: .statements) { $0.writes },
            Measure(name: "bytesRead", unit: .size, needs: .sizes) { $0.bytesRead },
            Measure(name: "bytesWritten", unit: .size, needs: .sizes) { $0.bytesWritten },
            Measure(name: "storeTime", unit: .time) { $0.storeTime },
            Measure(name: "mainThreadStoreTime", unit: .time, needs: .threads) { $0.mainThreadStoreTime },
        ]
    }
}

extension Measure<ScopeSummary> {
    /// What one scope of a name may take at most; of times the 95th percentile.
    static var ofScopes: [Self] {
        [
            Measure(name: "trips", unit: .count) { $0.mostTrips }, Measure(name: "rows", unit: .count) { $0.mostRows },
            Measure(name: "time", unit: .time) { $0.wallTimes.percentile(95) },
        ]
    }
}
