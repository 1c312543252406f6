public import FaultlineTrace

/// Faults that went to the store from one line, and those whose row had been in memory before.
public struct RefaultEvidence: Sendable {
    /// The objects' entity, and the line at which the faults fired.
    public typealias Key = EntitySite

    /// Faults that went to the store.
    public internal(set) var misses: UInt64 = 0
    /// Faults on objects whose row had been in memory, their time in nanoseconds, and their bytes.
    public internal(set) var repeats: UInt64 = 0
    public internal(set) var time: UInt64 = 0
    public internal(set) var mainThreadTime: UInt64 = 0
    public internal(set) var bytes: UInt64 = 0
    /// The most trips to the store for one object in one scope.
    public internal(set) var maximumInScope: UInt64 = 0
    /// Repeats whose last use is known, by cause: a save or merge that changed the entity, a refresh or reset, or an
    /// eviction.
    public internal(set) var known: UInt64 = 0
    public internal(set) var changed: UInt64 = 0
    public internal(set) var refreshed: UInt64 = 0
    public internal(set) var evicted: UInt64 = 0
    /// The lines of these refreshes and resets.
    public internal(set) var refreshSites: [CallSite?: UInt64] = [:]
    /// For evicted rows, the bytes loaded between two loads, which the row cache would have had to hold.
    public internal(set) var room = Distribution()
    public internal(set) var scopes: [ScopeSummary.Key: UInt64] = [:]
}

extension RefaultEvidence: Summed, StartsEmpty {
    static let parts: [SumPart<RefaultEvidence>] = [
        .sum("misses", \.misses), .sum("repeats", \.repeats), .sum("time", \.time),
        .sum("mainThreadTime", \.mainThreadTime), .sum("bytes", \.bytes), .maximum("mostInScope", \.maximumInScope),
        .sum("known", \.known), .sum("changed", \.changed), .sum("refreshed", \.refreshed),
        .sum("evicted", \.evicted), .part("refreshSites", \.refreshSites), .part("room", \.room),
        .part("scopes", \.scopes),
    ]
}
