/// Objects that went to the store one by one though no fetch had led to them: a program looked them up by their IDs.
///
/// Only what passed the thresholds within one scope is added up here.
public struct LookUpEvidence: Sendable {
    /// The objects' entity, and where their faults fired.
    public typealias Key = EntitySite

    /// Times that objects were looked up like this within one scope.
    public internal(set) var occurrences: UInt64 = 0
    /// Those among them in which events were lost.
    public internal(set) var lossyOccurrences: UInt64 = 0
    /// Round trips, and their time in nanoseconds.
    public internal(set) var trips: UInt64 = 0
    public internal(set) var time: UInt64 = 0
    public internal(set) var mainThreadTime: UInt64 = 0
    /// Distinct objects.
    public internal(set) var objects: UInt64 = 0
    /// The trips by how long they took.
    var speeds = Speeds()
    public internal(set) var scopes: [ScopeSummary.Key: UInt64] = [:]
    /// Wall time of the scopes concerned, in nanoseconds; without scopes from the first trip to the last.
    public internal(set) var wallTime: UInt64 = 0
}

extension LookUpEvidence: Summed, StartsEmpty {
    static let parts: [SumPart<LookUpEvidence>] = [
        .sum("occurrences", \.occurrences), .sum("lossyOccurrences", \.lossyOccurrences), .sum("trips", \.trips),
        .sum("time", \.time), .sum("mainThreadTime", \.mainThreadTime), .sum("objects", \.objects),
        .sum("wallTime", \.wallTime), .part("speeds", \.speeds), .part("scopes", \.scopes),
    ]
}
