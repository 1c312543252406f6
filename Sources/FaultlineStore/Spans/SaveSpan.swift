import CSQLite
import FaultlineRecorder
import FaultlineTrace

/// What a save, or the part of it in one store, measures while it is recorded; where nothing is recorded, there is none.
final class SaveSpan {
    let recorder: Recorder
    let origin: TraceOrigin
    /// `nil`: this measures a part of another span's event.
    private let open: OpenEvent?
    var event = TraceEvent.Save()
    private var watch: Stopwatch

    /// - Parameter open: the event, which ``end(_:)`` ends.
    init(_ open: OpenEvent?, _ recorder: Recorder, _ origin: TraceOrigin) {
        self.open = open
        self.recorder = recorder
        self.origin = origin
        watch = Stopwatch(recorder)
    }

    /// A span for the part in one store, whose figures are added to those of the whole.
    var part: SaveSpan { SaveSpan(nil, recorder, origin) }

    /// Changes the event.
    func update(_ body: (inout TraceEvent.Save) -> Void) { body(&event) }

    /// To be called before a lock is asked for, and before the commit.
    func restart() { watch.restart() }

    /// To be called when the lock is there.
    func didLock() { event.lockWait += watch.lap() }

    /// To be called when the store is committed.
    func didCommit() { event.commit = watch.lap() }

    /// Adds the bytes of values that a statement writes.
    func writes(_ values: [SQLValue]) {
        event.bytes += values.reduce(0) { $0 + UInt64($1.byteCount) }
    }

    /// Ends and records the event.
    ///
    /// - Parameter error: why the save failed; `nil`: it did not.
    func end(_ error: (any Error)? = nil) {
        guard let open else { return }
        var event = event
        if let error {
            let code = (error as? StoreError)?.sqliteCode ?? 0
            event.error = UInt32(bitPattern: code == 0 ? SQLITE_ABORT : code)
        }
        recorder.end(open, event, context: origin.context, site: origin.site)
    }

    /// Ends the event and records nothing.
    func cancel() {
        if let open { recorder.cancel(open) }
    }
}

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
