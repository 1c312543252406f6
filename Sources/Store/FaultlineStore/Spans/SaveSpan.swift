import CSQLite
import FaultlineRecorder
import FaultlineTrace

typealias SaveSpan = Span<TraceEvent.Save>

extension SaveSpan {
    /// Called when the lock has been acquired.
    func didLock() { event.lockWait += lap() }

    /// Called after the commit.
    func didCommit() { event.commit = lap() }

    /// Adds the bytes of values that a statement writes.
    func writes(_ values: [SQLValue]) {
        event.bytes += values.reduce(0) { $0 + UInt64($1.byteCount) }
    }
}

extension TraceEvent.Save: SpanEvent {
    static var failure: Int32 { SQLITE_ABORT }
}

extension TraceEvent.Save {
    /// Adds the figures of a save in another store, or of an earlier attempt.
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
            guard let position = entities.firstIndex(where: { $0.entity == change.entity }) else {
                entities.append(change)
                continue
            }
            entities[position].inserted += change.inserted
            entities[position].updated += change.updated
            entities[position].deleted += change.deleted
        }
    }
}
