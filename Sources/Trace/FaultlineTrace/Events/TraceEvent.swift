// Made by "make schema" from faultline_events.h. Do not edit.

public import CTraceSchema

/// One event of a trace.
///
/// Times are nanoseconds of `CLOCK_MONOTONIC`. IDs of entities, shapes, call sites and the like refer to the
/// ``TraceDictionary`` of the same process.
public struct TraceEvent: Sendable, Hashable {
    /// The event's own number.
    ///
    /// The process and the number together are unique in a trace.
    public var id: EventID = 0
    /// The event during which this one happened, on the same thread.
    ///
    /// 0 if there is none.
    public var parent: EventID = 0
    /// The innermost open scope: the number of its scope events.
    ///
    /// 0 if there is none.
    public var scope: EventID = 0
    /// When the event began, since the trace began, in nanoseconds.
    public var start: UInt64 = 0
    /// The duration of the event, in nanoseconds.
    public var duration: UInt64 = 0
    /// The time during which the thread was ready to run but waited for a CPU, in nanoseconds.
    ///
    /// Known only for events that took at least half a millisecond and did not sleep; 0 for all others.
    public var runDelay: UInt64 = 0
    /// The kernel's number of the thread that did the work.
    public var thread: UInt32 = 0
    /// Whether that thread is the process's first.
    public var isMainThread: Bool = false
    /// The kernel's number of the process that recorded the event.
    public var process: UInt32 = 0
    /// The context that the work was done for.
    ///
    /// 0 if there is none.
    public var context: DictionaryID = 0
    /// The call site that the compiler recorded (`#fileID`, `#line`), if the API takes one.
    ///
    /// 0 if it is not known.
    public var site: DictionaryID = 0
    /// The call stack.
    ///
    /// 0 if there is none.
    public var stack: DictionaryID = 0
    /// The time that recording cost the program, in nanoseconds.
    ///
    /// Sampled: most events carry 0, and a measured event also carries the time of those that were not measured, so the
    /// sum over a trace estimates the total.
    public var overhead: UInt32 = 0
    /// Figures that the recording left out.
    ///
    /// Their fields are 0.
    public var unrecorded: Unrecorded = []
    /// The fields of the event's kind.
    public var detail: Detail

    /// An event with every common field zero but those given.
    @inline(__always)
    public init(
        id: EventID = 0,
        parent: EventID = 0,
        scope: EventID = 0,
        start: UInt64 = 0,
        duration: UInt64 = 0,
        runDelay: UInt64 = 0,
        thread: UInt32 = 0,
        isMainThread: Bool = false,
        process: UInt32 = 0,
        context: DictionaryID = 0,
        site: DictionaryID = 0,
        stack: DictionaryID = 0,
        overhead: UInt32 = 0,
        _ detail: Detail
    ) {
        self.id = id
        self.parent = parent
        self.scope = scope
        self.start = start
        self.duration = duration
        self.runDelay = runDelay
        self.thread = thread
        self.isMainThread = isMainThread
        self.process = process
        self.context = context
        self.site = site
        self.stack = stack
        self.overhead = overhead
        self.detail = detail
    }

    /// The event that a record of the schema holds, or `nil` for a kind that this version does not know.
    ///
    /// - Complexity: O(lists). No allocation for kinds without lists.
    public init?(_ record: UnsafePointer<fl_event>) {
        guard let kind = EventKind(rawValue: record.pointee.header.kind) else { return nil }
        self.init(kind, record)
    }

    /// The event that a record of a known kind holds.
    ///
    /// Inlined, because an event is large: each call that returns it copies it.
    @inline(__always)
    init(_ kind: EventKind, _ record: UnsafePointer<fl_event>) {
        let header = record.pointee.header
        self.init(
            id: header.id,
            parent: header.parent,
            scope: header.scope,
            start: header.start,
            duration: header.duration,
            runDelay: header.runDelay,
            thread: header.thread,
            isMainThread: header.flags & UInt8(FL_ON_MAIN_THREAD) != 0,
            process: record.pointee.process,
            context: header.context,
            site: header.site,
            stack: header.stack,
            overhead: header.overhead,
            Detail(kind, record))
    }

    /// The values that every event carries, in the order of ``EventSchema/common``.
    package var commonValues: [UInt64] {
        [
            UInt64(id),
            UInt64(parent),
            UInt64(scope),
            UInt64(start),
            UInt64(duration),
            UInt64(runDelay),
            UInt64(context),
            UInt64(site),
            UInt64(stack),
            UInt64(overhead),
        ]
    }
}
