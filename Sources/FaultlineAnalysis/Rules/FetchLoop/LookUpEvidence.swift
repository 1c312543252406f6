/// Objects that went to the store one by one without a fetch, because the program looked them up by their IDs.
///
/// It includes only look-ups that passed the thresholds within one scope.
public struct LookUpEvidence: Sendable {
    /// The objects' entity, and the line at which their faults fired.
    public typealias Key = EntitySite

    /// The number of occurrences, each within one scope.
    public internal(set) var occurrences: UInt64 = 0
    /// The number of occurrences in which events were lost.
    public internal(set) var lossyOccurrences: UInt64 = 0
    /// The number of round trips, and their time in nanoseconds.
    public internal(set) var trips: UInt64 = 0
    public internal(set) var time: UInt64 = 0
    public internal(set) var mainThreadTime: UInt64 = 0
    /// The number of distinct objects.
    public internal(set) var objects: UInt64 = 0
    /// The durations of the trips.
    var speeds = Speeds()
    public internal(set) var scopes: [ScopeSummary.Key: UInt64] = [:]
    /// The wall time of the scopes, or without scopes from the first trip to the last, in nanoseconds.
    public internal(set) var wallTime: UInt64 = 0
}

extension LookUpEvidence: Summed, StartsEmpty {
    static let parts: [SumPart<LookUpEvidence>] = [
        .sum("occurrences", \.occurrences), .sum("lossyOccurrences", \.lossyOccurrences), .sum("trips", \.trips),
        .sum("time", \.time), .sum("mainThreadTime", \.mainThreadTime), .sum("objects", \.objects),
        .sum("wallTime", \.wallTime), .part("speeds", \.speeds), .part("scopes", \.scopes),
    ]
}
