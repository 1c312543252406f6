public import FaultlineTrace

/// Consecutive fetches of one shape from one line, each with another value of one property.
///
/// It includes only fetches that passed the thresholds within one scope.
public struct LoopEvidence: Sendable {
    public struct Key: Sendable, Hashable {
        public var fetch: FetchProfile.Key
        /// The index of the property's term in ``ShapeEntry/terms``, or `nil` if the values are unknown.
        public var term: Int?
    }

    /// The number of occurrences, each within one scope.
    public internal(set) var occurrences: UInt64 = 0
    /// The number of occurrences in which events were lost.
    public internal(set) var lossyOccurrences: UInt64 = 0
    public internal(set) var executions: UInt64 = 0
    /// The number of distinct values of the property.
    public internal(set) var values: UInt64 = 0
    /// The number of rows that matched.
    public internal(set) var rows: UInt64 = 0
    /// The fetches' time, in nanoseconds.
    public internal(set) var time: UInt64 = 0
    public internal(set) var mainThreadTime: UInt64 = 0
    /// The time between the fetches that was not spent in the store, in nanoseconds.
    public internal(set) var waiting: UInt64 = 0
    /// The lines that called the fetching functions, with the number of calls.
    public internal(set) var callers: [CallSite: UInt64] = [:]
    /// The durations of the fetches.
    var speeds = Speeds()
    public internal(set) var scopes: [ScopeSummary.Key: UInt64] = [:]
    /// The wall time of the scopes, or without scopes from the first fetch to the last, in nanoseconds.
    public internal(set) var wallTime: UInt64 = 0
}

extension LoopEvidence: Summed, RepetitionEvidence {
    static let parts: [SumPart<LoopEvidence>] = [
        .sum("occurrences", \.occurrences), .sum("lossyOccurrences", \.lossyOccurrences),
        .sum("executions", \.executions), .sum("values", \.values), .sum("rows", \.rows), .sum("time", \.time),
        .sum("mainThreadTime", \.mainThreadTime), .sum("waiting", \.waiting), .sum("wallTime", \.wallTime),
        .part("callers", \.callers), .part("speeds", \.speeds), .part("scopes", \.scopes),
    ]
}

extension LoopEvidence {
    /// Whether one fetch for all values is worth advising.
    ///
    /// It is not if trips cost little compared with the rows, or if the results serve a purpose that needs separate
    /// fetches.
    func isWorthJoining(_ key: Key, _ profile: Profile) -> Bool {
        switch FetchLoopKind(key, profile.fetch(key.fetch)) {
        case .rows: rows < FetchLoopRule.manyRows &* executions
        case .groups, .first: true
        case nil: false
        }
    }
}

extension LoopEvidence.Key: ProfileKey {
    static var hasSpellings: Bool { true }

    var sortText: String { fetch.sortText + "\u{2}" + (term.map { String($0) } ?? "") }

    func stored(_ words: inout ProfileWords) -> StoredValue {
        .list([fetch.stored(&words), term.map { .number(Int64($0)) } ?? .none])
    }

    init(_ value: StoredValue, _ words: ProfileWords) throws {
        let parts = try value.list(of: 2)
        let fetch = try FetchProfile.Key(parts[0], words)
        let term = parts[1] == .none ? nil : try parts[1].count()
        guard term.map({ $0 < UInt64(fetch.shape.terms?.count ?? 0) }) ?? true else {
            throw StoredProblem(path: ["1"], expected: "the number of one of the shape's terms")
        }
        self.init(fetch: fetch, term: term.map { Int($0) })
    }
}
