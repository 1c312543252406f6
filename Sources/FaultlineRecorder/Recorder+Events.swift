internal import CRecorder
internal import CTraceSchema
package import FaultlineTrace

/// An event that has begun and not yet ended.
package struct OpenEvent {
    /// The number that the event will have.
    package var id: EventID { open.id }
    /// The time at which it began, in nanoseconds of `CLOCK_MONOTONIC`.
    package var start: UInt64 { open.start }

    fileprivate var open: fl_open
}

/// The single statement of an event, stored in the event's own record.
package struct StatementRecord {
    package var fields: TraceEvent.Statement
    /// The time at which it began, in nanoseconds of `CLOCK_MONOTONIC`.
    package var start: UInt64
    package var duration: UInt64

    package init(fields: TraceEvent.Statement, start: UInt64, duration: UInt64) {
        self.fields = fields
        self.start = start
        self.duration = duration
    }
}

/// Call `begin` before the work and `end` after it, on the same thread; events in between are its children. Gather the
/// arguments of `end` only if `begin` returned an event.
extension Recorder {
    /// Begins an event; `nil` if recording is off.
    ///
    /// - Complexity: While recording is off, one relaxed load and a branch.
    @inline(__always)
    package func begin() -> OpenEvent? {
        isEnabled ? beginRecorded() : nil
    }

    private func beginRecorded() -> OpenEvent? {
        var open = fl_open()
        guard let handle, fl_begin(handle, &open) else { return nil }
        return OpenEvent(open: open)
    }

    /// Ends an event without recording it.
    package func cancel(_ event: OpenEvent) {
        guard let handle else { return }
        withUnsafePointer(to: event.open) { fl_cancel(handle, $0) }
    }

    /// Ends and records a fetch.
    package func end(
        _ event: OpenEvent, _ detail: TraceEvent.Fetch, statement: StatementRecord? = nil, context: DictionaryID,
        site: DictionaryID
    ) {
        var fields = detail.record
        end(event, .FL_EVENT_FETCH, &fields, statement, context, site, detail.words)
    }

    /// Ends and records a batch load.
    package func end(
        _ event: OpenEvent, _ detail: TraceEvent.Batch, statement: StatementRecord? = nil, context: DictionaryID,
        site: DictionaryID
    ) {
        var fields = detail.record
        end(event, .FL_EVENT_BATCH, &fields, statement, context, site, detail.words)
    }

    /// Ends and records a fault.
    ///
    /// If it went to the store, its cache miss and its statement are expanded from the same record.
    package func end(
        _ event: OpenEvent, _ detail: TraceEvent.Fault, statement: StatementRecord? = nil, context: DictionaryID,
        site: DictionaryID
    ) {
        var fields = detail.record
        end(event, .FL_EVENT_FAULT, &fields, statement, context, site)
    }

    /// Ends and records a save.
    package func end(
        _ event: OpenEvent, _ detail: TraceEvent.Save, statement: StatementRecord? = nil, context: DictionaryID,
        site: DictionaryID
    ) {
        var fields = detail.record
        end(event, .FL_EVENT_SAVE, &fields, statement, context, site, detail.words)
    }

    /// Ends and records a merge.
    package func end(_ event: OpenEvent, _ detail: TraceEvent.Merge, context: DictionaryID, site: DictionaryID) {
        var fields = detail.record
        end(event, .FL_EVENT_MERGE, &fields, nil, context, site, detail.words)
    }

    /// Ends and records the release of an object's values.
    package func end(_ event: OpenEvent, _ detail: TraceEvent.Release, context: DictionaryID) {
        var fields = detail.record
        end(event, .FL_EVENT_RELEASE, &fields, nil, context, 0)
    }

    /// Ends and records an eviction from the row cache.
    package func end(_ event: OpenEvent, _ detail: TraceEvent.Eviction) {
        var fields = detail.record
        end(event, .FL_EVENT_EVICTION, &fields, nil, 0, 0)
    }

    /// Ends and records a refresh.
    package func end(_ event: OpenEvent, _ detail: TraceEvent.Refresh, context: DictionaryID, site: DictionaryID) {
        var fields = detail.record
        end(event, .FL_EVENT_REFRESH, &fields, nil, context, site)
    }

    /// Records a finished wait, as a child of the event that is open on this thread.
    ///
    /// - Parameter start: The time at which it began, in nanoseconds of `CLOCK_MONOTONIC`, on this thread or another.
    package func record(_ detail: TraceEvent.Wait, since start: UInt64, context: DictionaryID, site: DictionaryID) {
        guard let handle else { return }
        var fields = detail.record
        var ending = fl_ending()
        ending.scope = RecordedScope.current(of: self)?.id ?? 0
        ending.context = context
        ending.site = site
        // The stack of a thread that did not wait says nothing about the waiter.
        ending.without_stack = !detail.isBlocking
        fl_record(handle, start, .FL_EVENT_WAIT, &fields, &ending)
    }

    /// Ends and records a standalone statement.
    package func end(
        _ event: OpenEvent, _ detail: TraceEvent.Statement, context: DictionaryID, site: DictionaryID
    ) {
        var fields = detail.record
        end(event, .FL_EVENT_SQL, &fields, nil, context, site)
    }

    private func end(
        _ event: OpenEvent, _ kind: fl_event_kind, _ fields: UnsafeRawPointer, _ statement: StatementRecord?,
        _ context: DictionaryID, _ site: DictionaryID, _ lists: [UInt64] = []
    ) {
        guard let handle else { return }
        var ending = fl_ending()
        ending.scope = RecordedScope.current(of: self)?.id ?? 0
        ending.context = context
        ending.site = site
        withUnsafePointer(to: event.open) { open in
            lists.prefix(Int(FL_MAXIMUM_LIST_WORDS)).withUnsafeBufferPointer { words in
                ending.lists = words.baseAddress
                ending.list_words = UInt32(words.count)
                guard let statement else {
                    fl_end(handle, open, kind, fields, &ending)
                    return
                }
                ending.statement_time = fl_statement_time(start: statement.start, duration: statement.duration)
                withUnsafePointer(to: statement.fields.record) {
                    ending.statement = $0
                    fl_end(handle, open, kind, fields, &ending)
                }
            }
        }
    }
}
