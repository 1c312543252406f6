public import FaultlineTrace

/// Work in the store that kept the main thread of a program with screens from drawing for at least a frame.
///
/// It includes only busy intervals that passed the threshold. Each is work without a pause, and belongs to the line
/// that caused most of it.
public struct BlockEvidence: Sendable {
    public struct Key: Sendable, Hashable {
        /// The kind of work that took longest.
        public var kind: EventKind
        /// The line of the program that caused it, or `nil` if the trace does not have it.
        public var site: CallSite?
    }

    /// The number of busy intervals, and of those in which events were lost.
    public internal(set) var stretches: UInt64 = 0
    public internal(set) var lossyStretches: UInt64 = 0
    /// The number of events in the busy intervals.
    public internal(set) var events: UInt64 = 0
    /// The time in the store, in nanoseconds: in all intervals, and in the longest one.
    public internal(set) var time: UInt64 = 0
    public internal(set) var longest: UInt64 = 0
    /// The total time of each interval's longest part, in nanoseconds.
    public internal(set) var longestParts: UInt64 = 0
    public internal(set) var scopes: [ScopeSummary.Key: UInt64] = [:]
    /// The wall time of the scopes, or without scopes of the busy intervals, in nanoseconds.
    public internal(set) var wallTime: UInt64 = 0
}

extension BlockEvidence: Summed, StartsEmpty {
    static let parts: [SumPart<BlockEvidence>] = [
        .sum("stretches", \.stretches), .sum("lossyStretches", \.lossyStretches), .sum("events", \.events),
        .sum("time", \.time), .maximum("longest", \.longest), .sum("longestParts", \.longestParts),
        .part("scopes", \.scopes), .sum("wallTime", \.wallTime),
    ]
}

extension BlockEvidence.Key {
    var sortText: String { [kind.name, site?.sortText ?? ""].joined(separator: "\u{2}") }
}

extension BlockEvidence.Key: ProfileKey {
    static var hasSpellings: Bool { true }
    func stored(_ words: inout ProfileWords) -> StoredValue { .list([kind.stored(&words), site.stored(&words)]) }

    init(_ value: StoredValue, _ words: ProfileWords) throws {
        let parts = try value.list(of: 2)
        self.init(kind: try EventKind(parts[0], words), site: try CallSite?(parts[1], words))
    }
}
