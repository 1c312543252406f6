internal import CRecorder
internal import CTraceSchema
package import FaultlineTrace

/// An event that has begun and not ended.
package struct OpenEvent {
    /// The number that the event will have.
    package var id: EventID { open.id }
    /// When it began, in nanoseconds of `CLOCK_MONOTONIC`.
    package var start: UInt64 { open.start }

    fileprivate var open: fl_open
}

/// The one statement that did an event's work, which travels in the event's own record.
package struct StatementRecord {
    package var fields: TraceEvent.Statement
    /// When it began, in nanoseconds of `CLOCK_MONOTONIC`.
    package var start: UInt64
    package var duration: UInt64

    package init(fields: TraceEvent.Statement, start: UInt64, duration: UInt64) {
        self.fields = fields
        self.start = start
        self.duration = duration
    }
}

/// Begin before the work, end after it, on the same thread; in between the event is the parent of others. What is
/// handed to `end` is gathered only if `begin` gave an event.
extension Recorder {
    /// Begins an event; `nil` if nothing is recorded.
    ///
    /// - Complexity: while recording is off, one relaxed load and a branch.
    @inline(__always)
    package func begin() -> OpenEvent? {
        isEnabled ? beginRecorded() : nil
    }

    private func beginRecorded() -> OpenEvent? {
        var open = fl_open()
        guard let handle, fl_begin(handle, &open) else { return nil }
        return OpenEvent(open: open)
    }

    /// Ends an event that is not to be recorded.
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

    /// Ends and records the loading of a batch.
    package func end(
        _ event: OpenEvent, _ detail: TraceEvent.Batch, statement: StatementRecord? = nil, context: DictionaryID,
        site: DictionaryID
    ) {
        var fields = detail.record
        end(event, .FL_EVENT_BATCH, &fields, statement, context, site, detail.words)
    }

    /// Ends and records a fault.
    ///
    /// If it went to the store, its cache miss and its statement are drawn from the same record.
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

    /// Ends and records that an object let go of its values.
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

    /// Records a wait that is over, within whatever is open on this thread.
    ///
    /// - Parameter start: when it began, in nanoseconds of `CLOCK_MONOTONIC`, on this thread or another.
    package func record(_ detail: TraceEvent.Wait, since start: UInt64, context: DictionaryID, site: DictionaryID) {
        guard let handle else { return }
        var fields = detail.record
        var ending = fl_ending()
        ending.scope = RecordedScope.current(of: self)?.id ?? 0
        ending.context = context
        ending.site = site
        // The stack of a thread that did not wait says nothing of who did.
        ending.without_stack = !detail.isBlocking
        fl_record(handle, start, .FL_EVENT_WAIT, &fields, &ending)
    }

    /// Ends and records a statement of its own.
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
