internal import FaultlineTrace

/// Small saves from one line on one thread in one scope, while more may come.
struct OpenSaves: Sendable {
    struct Key: Sendable, Hashable {
        /// The piece of work that the saves belong to.
        var scope: EventID
        var thread: UInt32
        var evidence: SaveEvidence.Key
    }

    var evidence: SaveEvidence
    var start: UInt64 = 0
    var end: UInt64 = 0
}

extension ProcessReduction {
    /// Saves that follow one another, from which on they count as too small.
    static let smallSaves = Threshold(
        "R10", "minimumSaves", 10, .count, "minimum small saves that follow one another")
    /// Objects that a small save changes at most.
    static let smallSave = Threshold("R10", "smallSave", 5, .count, "objects that a small save changes at most")
    /// Nanoseconds between two saves from which on they are two pieces of work: somebody may have confirmed each.
    static let pauseBetweenSaves = Threshold(
        "R10", "pause", 100_000_000, .time, "minimum pause between two saves that belong to different work")
    /// Nanoseconds, and objects, from which on a save is large.
    static let longSave = Threshold(
        "R10", "longSave", 100_000_000, .time, "minimum time of a large save, without waits and COMMIT")
    static let manyObjects = Threshold("R10", "manyObjects", 10_000, .count, "minimum objects of a large save")
    /// Nanoseconds that somebody waits for a save's lock, and objects of the save, from which on it is to be made in parts.
    static let longBlock = Threshold("R10", "longBlock", 16_000_000, .time, "that others wait for a save's lock")
    static let dividedSave: UInt64 = 200

    /// Adds a save to those from its line that it may be one of too many with, or to the large ones.
    mutating func noteSave(_ save: TraceEvent.Save, _ event: TraceEvent, in tables: inout ProfileTables) {
        let objects = save.objects
        guard save.error == 0, objects > 0 else { return }
        let time = event.ownDuration &- min(event.ownDuration, save.lockWait)
        let own = Self.ownTime(of: save, event)
        if event.tellsLoad {
            tables.saveLoads.insert(
                Load(rows: objects, bytes: save.bytes, duration: time),
                hash: StableHash.event(process: event.process, id: event.id))
        }
        let unit = unit(of: event.scope)
        guard !unit.isSetup else { return }
        let names = entityNames(of: save)
        let key = OpenSaves.Key(
            scope: unit.id, thread: event.thread, evidence: SaveEvidence.Key(site: callSite(of: event), names))
        let isSmall = objects <= Self.smallSave.count
        if let open = saves.peek(key), !isSmall || event.start >= open.end &+ Self.pauseBetweenSaves.count {
            _ = saves.remove(key)
            judge(open, key, in: &tables)
        }
        var evidence = SaveEvidence()
        evidence.entities = Set(names)
        if isSmall {
            (evidence.small.saves, evidence.small.objects) = (1, objects)
            (evidence.small.time, evidence.small.commit) = (time, save.commit)
            evidence.small.mainThreadTime = event.isMainThread ? time : 0
            add(OpenSaves(evidence: evidence, start: event.start, end: event.end), to: key, in: &tables)
        } else if own >= Self.longSave.count || objects >= Self.manyObjects.count {
            (evidence.large.saves, evidence.large.objects, evidence.large.mostObjects) = (1, objects, objects)
            (evidence.large.time, evidence.large.longest) = (own, own)
            evidence.large.mainThreadSaves = event.isMainThread ? 1 : 0
            evidence.large.lossySaves = unit.isLossy ? 1 : 0
            evidence.scopes = scopes.peek(unit.id)?.key.map { [$0: 1] } ?? [:]
            tables.saves[key.evidence, default: SaveEvidence()].merge(evidence)
        }
    }

    /// What a save takes that parts would share: neither waiting for the lock nor COMMIT, which waits for the disk and may copy
    /// the write-ahead log of all saves before it into the store.
    static func ownTime(of save: TraceEvent.Save, _ event: TraceEvent) -> UInt64 {
        event.ownDuration &- min(event.ownDuration, save.lockWait &+ min(save.commit, event.ownDuration))
    }

    private func entityNames(of save: TraceEvent.Save) -> [String] {
        save.entities.compactMap { dictionary.entity($0.entity)?.name }.sorted()
    }

    /// Adds a wait to the evidence of the save that held the lock for most of it, if the save was of many objects.
    mutating func noteBlocking(
        _ holder: Stretch, _ wait: ThreadWork.Wait, isLossy: Bool, in tables: inout ProfileTables
    ) {
        let most = holder.most
        guard let event = most.save, case .save(let save) = event.detail, !isSetup(event.scope) else { return }
        // What else the thread did, before the save and after it, kept nobody waiting for the save.
        let (start, end) = (max(event.start, wait.start), min(event.end, wait.end))
        let own = Self.ownTime(of: save, event)
        guard end > start, min(end - start, own) >= Self.longBlock.count, save.error == 0,
            save.objects >= Self.dividedSave
        else { return }
        let names = entityNames(of: save)
        var held = SaveEvidence()
        held.entities = Set(names)
        held.scopes = scopes.peek(unit(of: event.scope).id)?.key.map { [$0: 1] } ?? [:]
        (held.blocking.waits, held.blocking.lossyWaits) = (1, isLossy ? 1 : 0)
        held.blocking.mainThreadWaits = wait.isMainThread ? 1 : 0
        (held.blocking.time, held.blocking.longest) = (end - start, end - start)
        held.blocking.mostObjects = save.objects
        held.blocking.longestSave = own
        tables.saves[SaveEvidence.Key(site: most.site, names), default: SaveEvidence()].merge(held)
    }

    /// Counts what a save changed of each entity.
    mutating func noteChanges(_ save: TraceEvent.Save, in tables: inout ProfileTables) {
        guard save.error == 0 else { return }
        for change in save.entities {
            guard let name = dictionary.entity(change.entity)?.name else { continue }
            tables.changes[name, default: EntityChanges()].merge(
                EntityChanges(
                    saves: 1, inserted: UInt64(change.inserted), updated: UInt64(change.updated),
                    deleted: UInt64(change.deleted)))
        }
    }

    private mutating func add(_ one: OpenSaves, to key: OpenSaves.Key, in tables: inout ProfileTables) {
        let known: Void? = saves.update(key) { open in
            open.evidence.merge(one.evidence)
            open.end = max(open.end, one.end)
        }
        guard known == nil, let evicted = saves.insert(one, for: key) else { return }
        judge(evicted.value, evicted.key, in: &tables)
    }

    /// Adds small saves to the evidence if they are many.
    mutating func judge(_ open: OpenSaves, _ key: OpenSaves.Key, in tables: inout ProfileTables) {
        guard open.evidence.small.saves >= Self.smallSaves.count else { return }
        var evidence = open.evidence
        evidence.small.occurrences = 1
        let surroundings = surroundings(
            of: key.scope, for: .saves(key.evidence), outside: open.end > open.start ? open.end - open.start : 0)
        evidence.small.lossyOccurrences = surroundings.lossyOccurrences
        evidence.small.wallTime = surroundings.wallTime
        evidence.scopes = surroundings.scopes
        tables.saves[key.evidence, default: SaveEvidence()].merge(evidence)
    }
}
