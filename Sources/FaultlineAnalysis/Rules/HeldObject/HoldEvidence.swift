internal import FaultlineTrace

/// Objects with large values that kept them after the scope had ended in which they were read.
public struct HoldEvidence: Sendable {
    /// The objects' entity, and where they were filled.
    public typealias Key = EntitySite

    /// Objects that were filled within a scope.
    public internal(set) var objects: UInt64 = 0
    /// Those that kept their values beyond it, and the bytes of these.
    public internal(set) var kept: UInt64 = 0
    public internal(set) var bytes: UInt64 = 0
    /// The most that were kept so at a time by one process, and their bytes.
    public internal(set) var most: UInt64 = 0
    public internal(set) var mostBytes: UInt64 = 0
    /// Those that had not let go of them at the end of the trace.
    public internal(set) var neverReleased: UInt64 = 0
    /// The scopes that they outlived.
    public internal(set) var scopes: [ScopeSummary.Key: UInt64] = [:]
}

extension HoldEvidence: Summed, StartsEmpty {
    static let parts: [SumPart<HoldEvidence>] = [
        .sum("objects", \.objects), .sum("kept", \.kept), .sum("bytes", \.bytes), .maximum("most", \.most),
        .maximum("mostBytes", \.mostBytes), .sum("neverReleased", \.neverReleased), .part("scopes", \.scopes),
    ]
}
