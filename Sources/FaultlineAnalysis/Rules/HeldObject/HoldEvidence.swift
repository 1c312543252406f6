public import FaultlineTrace

/// Objects with large values that stayed realized after the end of the scope that read them.
public struct HoldEvidence: Sendable {
    /// The objects' entity, and the line that loaded them.
    public typealias Key = EntitySite

    /// The number of objects that were loaded in a scope.
    public internal(set) var objects: UInt64 = 0
    /// The number of objects that stayed realized beyond it, and their bytes.
    public internal(set) var kept: UInt64 = 0
    public internal(set) var bytes: UInt64 = 0
    /// The most objects that one process held at once in this way, and their bytes.
    public internal(set) var most: UInt64 = 0
    public internal(set) var maximumBytes: UInt64 = 0
    /// The number of objects that were still realized at the end of the trace.
    public internal(set) var neverReleased: UInt64 = 0
    /// The scopes that the objects outlived.
    public internal(set) var scopes: [ScopeSummary.Key: UInt64] = [:]
    /// The lines that opened these scopes.
    public internal(set) var openings: [CallSite: UInt64] = [:]
}

extension HoldEvidence: Summed, StartsEmpty {
    static let parts: [SumPart<HoldEvidence>] = [
        .sum("objects", \.objects), .sum("kept", \.kept), .sum("bytes", \.bytes), .maximum("most", \.most),
        .maximum("mostBytes", \.maximumBytes), .sum("neverReleased", \.neverReleased), .part("scopes", \.scopes),
        .part("openings", \.openings),
    ]
}
