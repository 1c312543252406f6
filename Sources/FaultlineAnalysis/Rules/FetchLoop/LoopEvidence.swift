public import FaultlineTrace

/// Fetches of one shape from one line that were made one after the other, each with another value of one property.
///
/// Only what passed the thresholds within one scope is added up here.
public struct LoopEvidence: Sendable {
    public struct Key: Sendable, Hashable {
        public var fetch: FetchProfile.Key
        /// The place of the property's term in ``ShapeEntry/terms``; `nil`: no values are told.
        public var term: Int?
    }

    /// Times that fetches followed one another like this within one scope.
    public internal(set) var occurrences: UInt64 = 0
    /// Those among them in which events were lost.
    public internal(set) var lossyOccurrences: UInt64 = 0
    public internal(set) var executions: UInt64 = 0
    /// Distinct values of the property.
    public internal(set) var values: UInt64 = 0
    /// Rows that matched.
    public internal(set) var rows: UInt64 = 0
    /// The fetches' time, in nanoseconds.
    public internal(set) var time: UInt64 = 0
    public internal(set) var mainThreadTime: UInt64 = 0
    /// Time between the fetches that was not spent in the store, in nanoseconds.
    public internal(set) var waiting: UInt64 = 0
    /// Lines that the fetches' functions were called from, and how often.
    public internal(set) var callers: [CallSite: UInt64] = [:]
    /// The fetches by how long they took.
    var speeds = Speeds()
    public internal(set) var scopes: [ScopeSummary.Key: UInt64] = [:]
    /// Wall time of the scopes concerned, in nanoseconds; without scopes from the first fetch to the last.
    public internal(set) var wallTime: UInt64 = 0
}

extension LoopEvidence: Summed, StartsEmpty {
    static let parts: [SumPart<LoopEvidence>] = [
        .sum("occurrences", \.occurrences), .sum("lossyOccurrences", \.lossyOccurrences),
        .sum("executions", \.executions), .sum("values", \.values), .sum("rows", \.rows), .sum("time", \.time),
        .sum("mainThreadTime", \.mainThreadTime), .sum("waiting", \.waiting), .sum("wallTime", \.wallTime),
        .part("callers", \.callers), .part("speeds", \.speeds), .part("scopes", \.scopes),
    ]
}

extension LoopEvidence {
    /// Whether one fetch for all values is what to advise: not where trips cost little beside the rows, and not where what
    /// the results are there for needs other fetches.
    func isWorthJoining(_ key: Key, _ profile: Profile) -> Bool {
        switch FetchLoopKind(key, profile.fetch(key.fetch)) {
        case .rows: rows < FetchLoopRule.manyRows &* executions
        case .groups, .first: true
        case nil: false
        }
    }
}
