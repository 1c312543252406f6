internal import FaultlineTrace

extension ProcessContext {
    /// Counts a save, and adds its unread objects to the fetches that returned them.
    mutating func add(_ save: TraceEvent.Save, _ event: TraceEvent, to tables: inout ProfileTables) {
        summary.counts.bytesWritten &+= save.bytes
        // A later save writes, and counts, what did not reach the store.
        guard save.error == 0, save.reachedStore else { return }
        if save.conflicts == 0, !isSetup(event.scope) {
            let site = callSite(of: event)
            for part in save.unread {
                _ = fetches.update(part.fetch) { $0.unread.add(part, of: save, event, at: site) }
            }
        }
        for change in save.entities {
            guard let name = entityName(change.entity) else { continue }
            tables.changes[name, default: EntityChanges()].merge(
                EntityChanges(
                    saves: 1, inserted: UInt64(change.inserted), updated: UInt64(change.updated),
                    deleted: UInt64(change.deleted)))
        }
        guard save.objects > 0, event.hasLoad else { return }
        tables.saveLoads.insert(
            Load(rows: save.objects, bytes: save.bytes, duration: save.unblockedTime(of: event)),
            hash: StableHash.event(process: event.process, id: event.id))
    }

    /// The names of the changed entities, in alphabetical order.
    func entityNames(of changes: [TraceEvent.Save.Change]) -> [String] {
        changes.compactMap { entityName($0.entity) }.sorted()
    }
}

extension TraceEvent.Save {
    /// The save's time without waits for a lock or for a CPU, in nanoseconds.
    func unblockedTime(of event: TraceEvent) -> UInt64 {
        event.ownDuration &- min(event.ownDuration, lockWait)
    }

    /// The part of a save's time that its rows share, in nanoseconds.
    ///
    /// It excludes waits for the lock, and COMMIT, which waits for the disk and may checkpoint the write-ahead log of
    /// all earlier saves.
    func ownTime(of event: TraceEvent) -> UInt64 {
        event.ownDuration &- min(event.ownDuration, lockWait &+ min(commit, event.ownDuration))
    }
}
