public import FaultlineTrace

/// Waits of one line for what another line held.
///
/// A wait for a context's queue counts for as long as whoever held it was in the store: what else is done there is a
/// queue of work, which may take as long as it likes.
public struct WaitEvidence: Sendable {
    public struct Key: Sendable, Hashable {
        public var resource: TraceEvent.Wait.Resource
        /// Where the program asked for what waited; `nil`: the trace does not say.
        public var site: CallSite?
        /// What was done meanwhile by the thread that held it, most of the time; `nil`: nothing that the trace tells of.
        public var holderKind: EventKind?
        /// Where that was asked for, or else the work in which it was.
        public var holderSite: CallSite?
    }

    /// How long the waits lasted, those that do not count included, in nanoseconds.
    public internal(set) var durations = Distribution()
    /// What of them counts, in nanoseconds.
    public internal(set) var time: UInt64 = 0
    /// What of that kept a thread, and the main thread, in nanoseconds.
    public internal(set) var blockedTime: UInt64 = 0
    public internal(set) var mainThreadTime: UInt64 = 0
    /// The longest wait that counts.
    public internal(set) var longest: UInt64 = 0
    /// How often SQLite's lock was asked for anew.
    public internal(set) var tries: UInt64 = 0
    /// Waits that were given up.
    public internal(set) var failures: UInt64 = 0
    /// Waits for another process.
    public internal(set) var foreign: UInt64 = 0
    /// The most objects of a save that was waited for; 0: none was.
    public internal(set) var mostObjects: UInt64 = 0
    /// What of those saves was COMMIT, in nanoseconds, and all of what they took.
    public internal(set) var saveCommit: UInt64 = 0
    public internal(set) var saveTime: UInt64 = 0
    /// Waits in scopes in which events were lost.
    public internal(set) var lossyWaits: UInt64 = 0
    public internal(set) var scopes: [ScopeSummary.Key: UInt64] = [:]
    /// Wall time of the scopes concerned, in nanoseconds; without scopes that of the waits.
    public internal(set) var wallTime: UInt64 = 0
}

extension WaitEvidence.Key {
    var sortText: String {
        ["\(resource)", site?.sortText ?? "", holderKind?.name ?? "", holderSite?.sortText ?? ""]
            .joined(separator: "\u{2}")
    }
}

extension WaitEvidence: Summed, StartsEmpty {
    static let parts: [SumPart<WaitEvidence>] = [
        .sum("time", \.time), .sum("blockedTime", \.blockedTime), .sum("mainThreadTime", \.mainThreadTime),
        .sum("tries", \.tries), .sum("failures", \.failures), .sum("foreign", \.foreign),
        .sum("lossyWaits", \.lossyWaits), .sum("wallTime", \.wallTime), .maximum("longest", \.longest),
        .maximum("mostObjects", \.mostObjects), .sum("saveCommit", \.saveCommit), .sum("saveTime", \.saveTime),
        .part("durations", \.durations), .part("scopes", \.scopes),
    ]
}
