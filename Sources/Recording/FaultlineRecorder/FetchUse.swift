internal import CRecorder
internal import CTraceSchema
package import FaultlineTrace

/// The summary of a program's use of one fetch's result.
///
/// Deallocating it records the `use` event. It is confined to the same thread or queue as its result.
package final class FetchUse {
    /// The summarized fetch.
    package let fetch: EventID
    /// The summary in memory, valid as long as this object.
    package let slot: OpaquePointer
    private let recorder: Recorder

    fileprivate init(fetch: EventID, slot: OpaquePointer, recorder: Recorder) {
        self.fetch = fetch
        self.slot = slot
        self.recorder = recorder
    }

    deinit {
        fl_use_close(slot)
    }

    /// Records access to a row of the result.
    package func touch(row: Int) {
        recorder.followTask()
        fl_use_touch(slot, UInt32(clamping: row))
    }

    /// Records that the program asked for the result's count.
    package func askedForCount() {
        fl_use_asked_for_count(slot)
    }

    /// Records that the program asked whether the result is empty.
    package func askedForEmptiness() {
        fl_use_asked_for_emptiness(slot)
    }

    /// Records that the program asked for the IDs of the result's rows.
    package func askedForIdentities() {
        fl_use_asked_for_identities(slot)
    }

    /// Records that a row's object was changed or deleted, for the first time since the fetch returned it.
    package func modifiedRow() {
        fl_use_modified_row(slot)
    }

    /// Records that rows were loaded, either a batch of them or all at once.
    package func loaded(rows: Int, bytes: Int) {
        fl_use_loaded(slot, UInt32(clamping: rows), UInt64(clamping: bytes))
    }

    /// Records that a batch was loaded.
    package func loadedBatch() {
        fl_use_loaded_batch(slot)
    }

    /// Records that values of one property were loaded; `largeRows` of them have at least 16 KiB.
    package func loadedProperty(_ index: Int, rows: Int, bytes: Int, largeRows: Int) {
        fl_use_loaded_property(
            slot, UInt32(clamping: index), UInt32(clamping: rows), UInt64(clamping: bytes),
            UInt32(clamping: largeRows))
    }

    /// Records that a property of a row's object was read.
    ///
    /// Only the first read counts. Called for each property of each object, with the summary's ``slot``, which needs no
    /// retain.
    package static func read(property index: Int, row: Int32, in slot: OpaquePointer) {
        fl_use_read_property(slot, UInt32(truncatingIfNeeded: index), UInt32(bitPattern: row))
    }
}

extension Recorder {
    /// Begins the summary of a fetch's result; `nil` if recording is off or there is no room.
    package func openUse(
        fetch: EventID, entity: DictionaryID, shape: DictionaryID, batchSize: Int, rows: Int,
        context: DictionaryID = 0, site: DictionaryID = 0
    ) -> FetchUse? {
        guard isEnabled, let handle else { return nil }
        var about = fl_use()
        about.fetch = fetch
        about.entity = entity
        about.shape = shape
        about.batchSize = UInt32(clamping: batchSize)
        about.rows = UInt32(clamping: rows)
        let scope = RecordedScope.current(of: self)?.id ?? 0
        guard let slot = fl_use_open(handle, &about, scope, context, site) else { return nil }
        return FetchUse(fetch: fetch, slot: slot, recorder: self)
    }
}
