public import FaultlineTrace

/// Operations of one line that failed.
public struct FailureEvidence: Sendable {
    /// The operation that failed, and the line of the program that asked for it.
    public struct Key: Sendable, Hashable {
        public var kind: EventKind
        /// The names of the entities concerned, in alphabetical order.
        public var entities: [String]
        /// The line, or `nil` if the trace does not have it.
        public var site: CallSite?
    }

    /// The number of operations that failed.
    public internal(set) var failures: UInt64 = 0
    /// The number of faults whose row was gone, among the failures.
    public internal(set) var gone: UInt64 = 0
    /// The failures by SQLite's primary result code (https://www.sqlite.org/rescode.html).
    public internal(set) var codes: [UInt64: UInt64] = [:]
    /// The number of conflicts that the failed saves met.
    public internal(set) var conflicts: UInt64 = 0
    /// The time of the operations that failed, in nanoseconds.
    public internal(set) var time: UInt64 = 0
    /// The scopes in which operations failed.
    public internal(set) var scopes: [ScopeSummary.Key: UInt64] = [:]

    /// The most frequent code.
    var mainCode: UInt64? { codes.max { ($0.value, $1.key) < ($1.value, $0.key) }?.key }
}

extension FailureEvidence: Summed, StartsEmpty {
    static let parts: [SumPart<FailureEvidence>] = [
        .sum("failures", \.failures), .sum("gone", \.gone), .part("codes", \.codes), .sum("conflicts", \.conflicts),
        .sum("time", \.time), .part("scopes", \.scopes),
    ]
}

extension FailureEvidence.Key: ProfileKey {
    static var hasSpellings: Bool { true }
    var sortText: String {
        ([kind.name, site?.sortText ?? ""] + entities).joined(separator: "\u{2}")
    }

    func stored(_ words: inout ProfileWords) -> StoredValue {
        .list([kind.stored(&words), StoredValue(entities), site.stored(&words)])
    }

    init(_ value: StoredValue, _ words: ProfileWords) throws {
        let parts = try value.list(of: 3)
        self.init(
            kind: try EventKind(parts[0], words), entities: try parts[1].texts(), site: try CallSite?(parts[2], words))
    }
}
