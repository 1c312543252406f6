internal import CRecorder
internal import CTraceSchema
package import FaultlineTrace

/// An event that has begun and not yet ended.
@usableFromInline
package struct OpenEvent {
    /// The number that the event will have.
    package var id: EventID { open.id }
    /// The time at which it began, in nanoseconds of `CLOCK_MONOTONIC`.
    package var start: UInt64 { open.start }
    /// Whether the cost of recording it is measured.
    package var isSampled: Bool { open.sampled != 0 }

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
    @inlinable @inline(__always)
    package func begin() -> OpenEvent? {
        isEnabled ? beginRecorded() : nil
    }

    @usableFromInline @inline(never)
    func beginRecorded() -> OpenEvent? {
        var open = fl_open()
        guard let handle, fl_begin(handle, &open) else { return nil }
        return OpenEvent(open: open)
    }

    /// Ends an event without recording it.
    package func cancel(_ event: OpenEvent) {
        guard let handle else { return }
        withUnsafePointer(to: event.open) { fl_cancel(handle, $0) }
    }

    /// Ends and records an event.
    ///
    /// If a fault went to the store, its cache miss and its statement are expanded from the same record.
    ///
    /// - Parameters:
    ///   - statement: The statement that did the work, if there was exactly one.
    ///   - context: The context that the work was done for.
    ///   - site: The call site that the compiler recorded.
    ///   - described: The time at which the event's description began, if the event is sampled; 0 for now.
    ///   - cost: The time that recording the event took before that, in nanoseconds.
    package func end<Fields: EventRecord>(
        _ event: OpenEvent, _ fields: Fields, statement: StatementRecord? = nil, context: DictionaryID = 0,
        site: DictionaryID = 0, described: UInt64 = 0, cost: UInt64 = 0
    ) {
        let described = event.isSampled && described == 0 ? now() : described

        withUnsafeBytes(of: fields.record) {
            var ending = fl_ending()
            ending.context = context
            ending.site = site
            ending.described = described
            ending.cost = UInt32(clamping: cost)
            end(event, Fields.kind, $0.baseAddress!, statement, &ending, fields.words)
        }
    }

    private func end(
        _ event: OpenEvent, _ kind: EventKind, _ fields: UnsafeRawPointer, _ statement: StatementRecord?,
        _ ending: inout fl_ending, _ lists: [UInt64]
    ) {
        guard let handle else { return }
        let kind = fl_event_kind(rawValue: UInt32(kind.rawValue))!
        ending.scope = RecordedScope.current(of: self)?.id ?? 0
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
}
