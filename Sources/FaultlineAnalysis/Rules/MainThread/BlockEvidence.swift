public import FaultlineTrace

/// Work in the store that kept the main thread of a program with screens from drawing, for a frame or longer.
///
/// Only busy intervals that passed the threshold are added up here. Each is work without a pause, and belongs to the line
/// that asked for most of it.
public struct BlockEvidence: Sendable {
    public struct Key: Sendable, Hashable {
        /// What took longest.
        public var kind: EventKind
        /// Where the program asked for it; `nil`: the trace does not say.
        public var site: CallSite?
    }

    /// Busy intervals, and those among them in which events were lost.
    public internal(set) var stretches: UInt64 = 0
    public internal(set) var lossyStretches: UInt64 = 0
    /// Events in them.
    public internal(set) var events: UInt64 = 0
    /// Time in the store, of all of them and of the longest, in nanoseconds.
    public internal(set) var time: UInt64 = 0
    public internal(set) var longest: UInt64 = 0
    /// What of it the longest part of each took, in nanoseconds.
    public internal(set) var longestParts: UInt64 = 0
    public internal(set) var scopes: [ScopeSummary.Key: UInt64] = [:]
    /// Wall time of the scopes concerned, in nanoseconds; without scopes that of the busy intervals.
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
