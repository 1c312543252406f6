public import FaultlineTrace

/// Waits of one line for a resource that another line owned.
///
/// A wait for a context's queue counts only while the queue's owner was in the store. Other work on a queue may take as
/// long as it likes.
public struct WaitEvidence: Sendable {
    public struct Key: Sendable, Hashable {
        public var resource: TraceEvent.Wait.Resource
        /// The line of the program that waited, or `nil` if the trace does not have it.
        public var site: CallSite?
        /// The kind of work that the owner's thread did for most of the wait, or `nil` if the trace has none.
        public var ownerKind: EventKind?
        /// The line that caused this work, or else the unit of work it belongs to.
        public var ownerSite: CallSite?
    }

    /// The durations of all waits, including those that do not count, in nanoseconds.
    public internal(set) var durations = Distribution()
    /// The part of the waits that counts, in nanoseconds.
    public internal(set) var time: UInt64 = 0
    /// The part of ``time`` that blocked a thread, and the main thread, in nanoseconds.
    public internal(set) var blockedTime: UInt64 = 0
    public internal(set) var mainThreadTime: UInt64 = 0
    /// The longest wait that counts, in nanoseconds.
    public internal(set) var longest: UInt64 = 0
    /// The number of retries for SQLite's lock.
    public internal(set) var tries: UInt64 = 0
    /// The number of waits that were given up.
    public internal(set) var failures: UInt64 = 0
    /// The number of waits that were given up at once because the transaction had read before it wrote.
    public internal(set) var upgrades: UInt64 = 0
    /// The libraries that ran the waiting statements for the program, as names of ``StatementLibrary``.
    public internal(set) var libraries: Set<String> = []
    /// The number of waits for another process.
    public internal(set) var foreign: UInt64 = 0
    /// The most objects of a save that was waited for, or 0 if none was.
    public internal(set) var mostObjects: UInt64 = 0
    /// The time that these saves spent in COMMIT, and their total time, in nanoseconds.
    public internal(set) var saveCommit: UInt64 = 0
    public internal(set) var saveTime: UInt64 = 0
    /// The number of waits in scopes in which events were lost.
    public internal(set) var lossyWaits: UInt64 = 0
    public internal(set) var scopes: [ScopeSummary.Key: UInt64] = [:]
    /// The wall time of the scopes, or without scopes of the waits, in nanoseconds.
    public internal(set) var wallTime: UInt64 = 0
}

extension WaitEvidence.Key {
    var sortText: String {
        ["\(resource)", site?.sortText ?? "", ownerKind?.name ?? "", ownerSite?.sortText ?? ""]
            .joined(separator: "\u{2}")
    }
}

extension WaitEvidence: Summed, StartsEmpty {
    static let parts: [SumPart<WaitEvidence>] = [
        .sum("time", \.time), .sum("blockedTime", \.blockedTime), .sum("mainThreadTime", \.mainThreadTime),
        .sum("tries", \.tries), .sum("failures", \.failures), .sum("foreign", \.foreign),
        .sum("upgrades", \.upgrades), .union("libraries", \.libraries),
        .sum("lossyWaits", \.lossyWaits), .sum("wallTime", \.wallTime), .maximum("longest", \.longest),
        .maximum("mostObjects", \.mostObjects), .sum("saveCommit", \.saveCommit), .sum("saveTime", \.saveTime),
        .part("durations", \.durations), .part("scopes", \.scopes),
    ]
}

extension WaitEvidence.Key: ProfileKey {
    static var hasSpellings: Bool { true }

    func stored(_ words: inout ProfileWords) -> StoredValue {
        .list([
            resource.stored(&words), site.stored(&words), ownerKind.stored(&words), ownerSite.stored(&words),
        ])
    }

    init(_ value: StoredValue, _ words: ProfileWords) throws {
        let parts = try value.list(of: 4)
        self.init(
            resource: try TraceEvent.Wait.Resource(parts[0], words), site: try CallSite?(parts[1], words),
            ownerKind: try EventKind?(parts[2], words), ownerSite: try CallSite?(parts[3], words))
    }
}
