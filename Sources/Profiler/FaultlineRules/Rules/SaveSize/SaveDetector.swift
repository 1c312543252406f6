internal import FaultlineProfile
internal import FaultlineTrace

/// An open group of small saves from one line on one thread in one scope.
struct OpenSaves: Sendable {
    struct Key: Sendable, Hashable {
        /// The unit of work of the saves.
        var scope: EventID
        var thread: UInt32
        var evidence: SaveEvidence.Key
    }

    var evidence: SaveEvidence
    var start: UInt64 = 0
    var end: UInt64 = 0
}

/// Detects saves that are too small or too large, and saves for whose lock other work waited.
struct SaveDetector: EvidenceDetector {
    static let name = "saves"
    static let kinds: Set<EventKind> = [.save]
    static let wallTime: (any WritableKeyPath<SaveEvidence, UInt64> & Sendable)? = \SaveEvidence.small.wallTime
    private static let capacity = 4096

    /// The minimum number of consecutive saves that are too small.
    static let smallSaves = Threshold(
        "R10", "minimumSaves", 10, .count, "minimum consecutive small saves")
    /// The maximum number of objects of a small save.
    static let smallSave = Threshold("R10", "smallSave", 5, .count, "maximum objects of a small save")
    /// The minimum pause between two separate units of work, in nanoseconds.
    ///
    /// A user may have confirmed each save.
    static let pause = Threshold(
        "R10", "pause", 100_000_000, .time, "minimum pause between two saves that belong to different work")
    /// The minimum time of a large save, in nanoseconds, or its minimum number of objects.
    static let longSave = Threshold(
        "R10", "longSave", 100_000_000, .time, "minimum time of a large save, without waits and COMMIT")
    static let manyObjects = Threshold("R10", "manyObjects", 10_000, .count, "minimum objects of a large save")
    /// The minimum time that other work waits for a save's lock, in nanoseconds, and the minimum number of the save's
    /// objects, before it should be divided.
    static let longBlock = Threshold(
        "R10", "longBlock", 16_000_000, .time, "minimum time that others wait for a save's lock")
    static let dividedSave: UInt64 = 200

    var evidence: [SaveEvidence.Key: SaveEvidence] = [:]
    private var open = BoundedTable<OpenSaves.Key, OpenSaves>(capacity: capacity)

    /// Adds a save to the open group of its line, or to the large saves.
    mutating func observe(_ event: TraceEvent, in context: inout ProcessContext, _ tables: inout ProfileTables) {
        addLockWaits(in: &context)
        guard case .save(let save) = event.detail, save.error == 0, save.objects > 0, save.reachedStore else { return }
        let isSmall = save.objects <= Self.smallSave.count
        // A batch request has no changes to save in parts. Requests that insert a few rows each could be one.
        let isBatchInsert = save.isBatchRequest && UInt64(save.inserted) == save.objects
        guard !save.isBatchRequest || isSmall && isBatchInsert else { return }
        let unit = context.unit(of: event.scope)
        guard !unit.isSetup else { return }
        let names = context.entityNames(of: save.entities)
        let key = OpenSaves.Key(
            scope: unit.id, thread: event.thread,
            evidence: SaveEvidence.Key(site: context.callSite(of: event), names))
        if let saves = open.peek(key), !isSmall || event.start >= saves.end &+ Self.pause.count {
            _ = open.remove(key)
            evaluate(saves, key, in: &context)
        }
        let own = save.ownTime(of: event)
        var found = SaveEvidence()
        found.entities = Set(names)
        if isSmall {
            let time = save.unblockedTime(of: event)
            (found.small.saves, found.small.objects) = (1, save.objects)
            (found.small.time, found.small.commit) = (time, save.commit)
            found.small.batchInserts = isBatchInsert ? 1 : 0
            found.small.untimed = event.unrecorded.contains(.duration) ? 1 : 0
            found.small.mainThreadTime = event.isMainThread ? time : 0
            add(OpenSaves(evidence: found, start: event.start, end: event.end), to: key, in: &context)
        } else if own >= Self.longSave.count || save.objects >= Self.manyObjects.count {
            (found.large.saves, found.large.objects, found.large.mostObjects) = (1, save.objects, save.objects)
            found.large.inserted = UInt64(save.inserted)
            (found.large.time, found.large.longest) = (own, own)
            found.large.mainThreadSaves = event.isMainThread ? 1 : 0
            found.large.lossySaves = unit.isLossy ? 1 : 0
            found.scopes = context.scopes.peek(unit.id)?.key.map { [$0: 1] } ?? [:]
            add(found, to: key.evidence)
        }
    }

    mutating func finish(in context: inout ProcessContext, _ tables: inout ProfileTables) {
        for (key, saves) in open.drain() { evaluate(saves, key, in: &context) }
        addLockWaits(in: &context)
    }

    private mutating func add(_ one: OpenSaves, to key: OpenSaves.Key, in context: inout ProcessContext) {
        let known: Void? = open.update(key) { saves in
            saves.evidence.merge(one.evidence)
            saves.end = max(saves.end, one.end)
        }
        guard known == nil, let evicted = open.insert(one, for: key) else { return }
        evaluate(evicted.value, evicted.key, in: &context)
    }

    /// Adds small saves to the evidence if there are many.
    private mutating func evaluate(_ open: OpenSaves, _ key: OpenSaves.Key, in context: inout ProcessContext) {
        guard open.evidence.small.saves >= Self.smallSaves.count else { return }
        var found = open.evidence
        found.small.occurrences = 1
        let surroundings = surroundings(
            of: key.scope, for: key.evidence, outside: open.end > open.start ? open.end - open.start : 0,
            in: &context)
        found.small.lossyOccurrences = surroundings.lossyOccurrences
        found.small.wallTime = surroundings.wallTime
        found.scopes = surroundings.scopes
        add(found, to: key.evidence)
    }

    /// Adds the waits for the locks of large saves.
    private mutating func addLockWaits(in context: inout ProcessContext) {
        guard !context.blockedSaves.isEmpty else { return }
        let blocked = context.blockedSaves
        context.blockedSaves = []
        for wait in blocked { add(wait, in: context) }
    }

    /// Adds a wait to the evidence of the save that held the lock for most of it, if the save had many objects.
    private mutating func add(_ blocked: BlockedSave, in context: ProcessContext) {
        let event = blocked.save
        guard case .save(let save) = event.detail, !save.isBatchRequest, !context.isSetup(event.scope) else { return }
        // Only the overlap with the save counts. The thread's other work did not delay the waiter because of the save.
        let (start, end) = (max(event.start, blocked.wait.start), min(event.end, blocked.wait.end))
        let own = save.ownTime(of: event)
        guard end > start, min(end - start, own) >= Self.longBlock.count, save.error == 0,
            save.objects >= Self.dividedSave
        else { return }
        let names = context.entityNames(of: save.entities)
        var found = SaveEvidence()
        found.entities = Set(names)
        found.scopes = context.scopes.peek(context.unit(of: event.scope).id)?.key.map { [$0: 1] } ?? [:]
        (found.blocking.waits, found.blocking.lossyWaits) = (1, blocked.isLossy ? 1 : 0)
        found.blocking.mainThreadWaits = blocked.wait.isMainThread ? 1 : 0
        (found.blocking.time, found.blocking.longest) = (end - start, end - start)
        found.blocking.mostObjects = save.objects
        found.blocking.longestSave = own
        add(found, to: SaveEvidence.Key(site: blocked.site, names))
    }
}

extension Profile {
    /// Saves that were too small or too large.
    var saves: [(key: SaveEvidence.Key, evidence: SaveEvidence)] {
        evidence(of: SaveDetector.self)
    }
}

/// Saves from one line that were too small, one after the other, or too large.
///
/// It includes only saves that passed the thresholds.
struct SaveEvidence: Sendable {
    struct Key: Sendable, Hashable {
        /// The line that saves, or `nil` if the trace does not have it.
        var site: CallSite?
        /// The names of the saved entities, or empty if the line is known.
        var entities: [String]
    }

    /// Consecutive saves of a few objects each, without a pause.
    struct Small: Sendable, Hashable {
        /// The number of occurrences.
        var occurrences: UInt64 = 0
        /// The number of occurrences in which events were lost.
        var lossyOccurrences: UInt64 = 0
        var saves: UInt64 = 0
        /// The number of batch requests among them, which inserted rows.
        var batchInserts: UInt64 = 0
        /// The number of saves whose time the trace does not have.
        var untimed: UInt64 = 0
        /// The number of objects that were inserted, updated or deleted.
        var objects: UInt64 = 0
        /// The saves' time without waits for others, in nanoseconds.
        var time: UInt64 = 0
        var mainThreadTime: UInt64 = 0
        /// The part of it spent in COMMIT, in nanoseconds.
        var commit: UInt64 = 0
        /// The wall time of the scopes, or without scopes from the first save to the last, in nanoseconds.
        var wallTime: UInt64 = 0

        init() {}
    }

    /// Saves that kept the store busy for long, or held many objects.
    struct Large: Sendable, Hashable {
        var saves: UInt64 = 0
        var lossySaves: UInt64 = 0
        var mainThreadSaves: UInt64 = 0
        /// The objects of all these saves, and of the one with the most.
        var objects: UInt64 = 0
        var mostObjects: UInt64 = 0
        /// The objects that were inserted.
        var inserted: UInt64 = 0
        /// The time of all these saves and of the longest, without waits for others and without COMMIT, in nanoseconds.
        var time: UInt64 = 0
        var longest: UInt64 = 0

        init() {}
    }

    /// Saves of many objects for whose lock other work waited long.
    struct Blocking: Sendable, Hashable {
        /// Waits of at least ``SaveDetector/longBlock`` while a save of many objects held the lock.
        var waits: UInt64 = 0
        /// The waits in scopes in which events were lost, and the waits on the main thread.
        var lossyWaits: UInt64 = 0
        var mainThreadWaits: UInt64 = 0
        /// The time of all waits and of the longest, in nanoseconds.
        var time: UInt64 = 0
        var longest: UInt64 = 0
        /// The most objects of one of the saves, and the time of the longest save without waits for others and without
        /// COMMIT, in nanoseconds.
        var mostObjects: UInt64 = 0
        var longestSave: UInt64 = 0

        init() {}
    }

    var small = Small()
    var large = Large()
    var blocking = Blocking()
    /// The names of the saved entities.
    var entities: Set<String> = []
    var scopes: [ScopeSummary.Key: UInt64] = [:]

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
        .sum("batchInserts", \.batchInserts), .sum("untimed", \.untimed), .sum("objects", \.objects),
        .sum("time", \.time),
        .sum("mainThreadTime", \.mainThreadTime),
        .sum("commit", \.commit), .sum("wallTime", \.wallTime),
    ]
}

extension SaveEvidence.Large: Summed, StartsEmpty {
    static let parts: [SumPart<SaveEvidence.Large>] = [
        .sum("saves", \.saves), .sum("lossySaves", \.lossySaves), .sum("mainThreadSaves", \.mainThreadSaves),
        .sum("objects", \.objects), .sum("inserted", \.inserted), .sum("time", \.time),
        .maximum("mostObjects", \.mostObjects), .maximum("longest", \.longest),
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
    func stored(_ words: inout ProfileWords) -> StoredValue {
        .list([site.stored(&words), StoredValue(entities)])
    }

    init(_ value: StoredValue, _ words: ProfileWords) throws {
        let parts = try value.list(of: 2)
        self.init(site: try CallSite?(parts[0], words), entities: try parts[1].texts())
    }
}
