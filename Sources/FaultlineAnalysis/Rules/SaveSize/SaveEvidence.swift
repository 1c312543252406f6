public import FaultlineTrace

/// Saves from one line that were too small, one after the other, or too large.
///
/// It includes only saves that passed the thresholds.
public struct SaveEvidence: Sendable {
    public struct Key: Sendable, Hashable {
        /// The line that saves, or `nil` if the trace does not have it.
        public var site: CallSite?
        /// The names of the saved entities, or empty if the line is known.
        public var entities: [String]
    }

    /// Consecutive saves of a few objects each, without a pause.
    public struct Small: Sendable, Hashable {
        /// The number of occurrences.
        public internal(set) var occurrences: UInt64 = 0
        /// The number of occurrences in which events were lost.
        public internal(set) var lossyOccurrences: UInt64 = 0
        public internal(set) var saves: UInt64 = 0
        /// The number of objects that were inserted, updated or deleted.
        public internal(set) var objects: UInt64 = 0
        /// The saves' time without waits for others, in nanoseconds.
        public internal(set) var time: UInt64 = 0
        public internal(set) var mainThreadTime: UInt64 = 0
        /// The part of it spent in COMMIT, in nanoseconds.
        public internal(set) var commit: UInt64 = 0
        /// The wall time of the scopes, or without scopes from the first save to the last, in nanoseconds.
        public internal(set) var wallTime: UInt64 = 0
    }

    /// Saves that kept the store busy for long, or held many objects.
    public struct Large: Sendable, Hashable {
        public internal(set) var saves: UInt64 = 0
        public internal(set) var lossySaves: UInt64 = 0
        public internal(set) var mainThreadSaves: UInt64 = 0
        /// The objects of all these saves, and of the one with the most.
        public internal(set) var objects: UInt64 = 0
        public internal(set) var mostObjects: UInt64 = 0
        /// The time of all these saves and of the longest, without waits for others and without COMMIT, in nanoseconds.
        public internal(set) var time: UInt64 = 0
        public internal(set) var longest: UInt64 = 0
    }

    /// Saves of many objects for whose lock other work waited long.
    public struct Blocking: Sendable, Hashable {
        /// Waits of at least ``SaveDetector/longBlock`` while a save of many objects held the lock.
        public internal(set) var waits: UInt64 = 0
        /// The waits in scopes in which events were lost, and the waits on the main thread.
        public internal(set) var lossyWaits: UInt64 = 0
        public internal(set) var mainThreadWaits: UInt64 = 0
        /// The time of all waits and of the longest, in nanoseconds.
        public internal(set) var time: UInt64 = 0
        public internal(set) var longest: UInt64 = 0
        /// The most objects of one of the saves, and the time of the longest save without waits for others and without
        /// COMMIT, in nanoseconds.
        public internal(set) var mostObjects: UInt64 = 0
        public internal(set) var longestSave: UInt64 = 0
    }

    public internal(set) var small = Small()
    public internal(set) var large = Large()
    public internal(set) var blocking = Blocking()
    /// The names of the saved entities.
    public internal(set) var entities: Set<String> = []
    public internal(set) var scopes: [ScopeSummary.Key: UInt64] = [:]

    /// The longest of the large or blocking saves, in nanoseconds, and the most objects of one.
    var longestSave: UInt64 { max(large.longest, blocking.longestSave) }
    var mostObjects: UInt64 { max(large.mostObjects, blocking.mostObjects) }
}

extension SaveEvidence: Summed, StartsEmpty {
    static let parts: [SumPart<SaveEvidence>] = [
        .part("small", \.small), .part("large", \.large), .part("blocking", \.blocking),
        .union("entities", \.entities),
        .part("scopes", \.scopes),
    ]
}

extension SaveEvidence.Blocking: Summed, StartsEmpty {
    static let parts: [SumPart<SaveEvidence.Blocking>] = [
        .sum("waits", \.waits), .sum("lossyWaits", \.lossyWaits), .sum("mainThreadWaits", \.mainThreadWaits),
        .sum("time", \.time), .maximum("longest", \.longest), .maximum("mostObjects", \.mostObjects),
        .maximum("longestSave", \.longestSave),
    ]
}

extension SaveEvidence.Small: Summed, StartsEmpty {
    static let parts: [SumPart<SaveEvidence.Small>] = [
        .sum("occurrences", \.occurrences), .sum("lossyOccurrences", \.lossyOccurrences), .sum("saves", \.saves),
        .sum("objects", \.objects), .sum("time", \.time), .sum("mainThreadTime", \.mainThreadTime),
        .sum("commit", \.commit), .sum("wallTime", \.wallTime),
    ]
}

extension SaveEvidence.Large: Summed, StartsEmpty {
    static let parts: [SumPart<SaveEvidence.Large>] = [
        .sum("saves", \.saves), .sum("lossySaves", \.lossySaves), .sum("mainThreadSaves", \.mainThreadSaves),
        .sum("objects", \.objects), .sum("time", \.time), .maximum("mostObjects", \.mostObjects),
        .maximum("longest", \.longest),
    ]
}

extension SaveEvidence.Key {
    /// The key of saves from a line.
    ///
    /// If the line is unknown, saves of the same entities belong together.
    init(site: CallSite?, _ names: [String]) {
        self.init(site: site, entities: site == nil ? names : [])
    }

    var sortText: String { (site?.sortText ?? "") + "|" + entities.joined(separator: ",") }
}

extension SaveEvidence.Key: ProfileKey {
    static var hasSpellings: Bool { true }
    func stored(_ words: inout ProfileWords) -> StoredValue { .list([site.stored(&words), StoredValue(entities)]) }

    init(_ value: StoredValue, _ words: ProfileWords) throws {
        let parts = try value.list(of: 2)
        self.init(site: try CallSite?(parts[0], words), entities: try parts[1].texts())
    }
}
