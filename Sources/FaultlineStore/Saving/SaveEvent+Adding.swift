import FaultlineTrace

extension TraceEvent.Save {
    /// Adds what was done in another store, or by an attempt before.
    mutating func add(_ other: TraceEvent.Save) {
        inserted += other.inserted
        updated += other.updated
        deleted += other.deleted
        changedColumns += other.changedColumns
        conflicts += other.conflicts
        unchanged += other.unchanged
        trips += other.trips
        bytes += other.bytes
        lockWait += other.lockWait
        commit += other.commit
        unread += other.unread
        for change in other.entities {
            guard let place = entities.firstIndex(where: { $0.entity == change.entity }) else {
                entities.append(change)
                continue
            }
            entities[place].inserted += change.inserted
            entities[place].updated += change.updated
            entities[place].deleted += change.deleted
        }
    }
}
