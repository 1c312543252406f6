public import FaultlineTrace

/// Faults that went to the store from one line, and those among them whose row had been in memory before.
public struct RefaultEvidence: Sendable {
    /// The objects' entity, and where the faults fired.
    public typealias Key = EntitySite

    /// Faults that went to the store.
    public internal(set) var misses: UInt64 = 0
    /// Those of objects whose row had been in memory, their time in nanoseconds, and their bytes.
    public internal(set) var repeats: UInt64 = 0
    public internal(set) var time: UInt64 = 0
    public internal(set) var mainThreadTime: UInt64 = 0
    public internal(set) var bytes: UInt64 = 0
    /// How often one object went to the store in one scope, at most.
    public internal(set) var mostInScope: UInt64 = 0
    /// Repeats whose last use is known; what came in between: a save or a merge that changed the entity, a refresh or a
    /// reset, or neither, so that the row had to make room for others.
    public internal(set) var known: UInt64 = 0
    public internal(set) var changed: UInt64 = 0
    public internal(set) var refreshed: UInt64 = 0
    public internal(set) var evicted: UInt64 = 0
    /// Where those refreshes and resets stand.
    public internal(set) var refreshSites: [CallSite?: UInt64] = [:]
    /// Bytes that were loaded between two loads of those that had to make room: what the row cache would have had to keep.
    public internal(set) var room = Distribution()
    public internal(set) var scopes: [ScopeSummary.Key: UInt64] = [:]
}

extension RefaultEvidence: Summed, StartsEmpty {
    static let parts: [SumPart<RefaultEvidence>] = [
        .sum("misses", \.misses), .sum("repeats", \.repeats), .sum("time", \.time),
        .sum("mainThreadTime", \.mainThreadTime), .sum("bytes", \.bytes), .maximum("mostInScope", \.mostInScope),
        .sum("known", \.known), .sum("changed", \.changed), .sum("refreshed", \.refreshed),
        .sum("evicted", \.evicted), .part("refreshSites", \.refreshSites), .part("room", \.room),
        .part("scopes", \.scopes),
    ]
}
