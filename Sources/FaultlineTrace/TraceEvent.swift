/// The number of a dictionary entry in the process that wrote it; 0 stands for none.
public typealias DictionaryID = UInt32

/// The number of an event in the process that recorded it; 0 stands for none.
public typealias EventID = UInt64

/// One event of a trace.
///
/// Times are nanoseconds of `CLOCK_MONOTONIC` since the trace began. Numbers of entities, shapes, sites and the like
/// refer to the ``TraceDictionary`` of the same process.
public struct TraceEvent: Sendable, Hashable {
    /// The kernel's number of the process that recorded the event.
    public var process: UInt32 = 0
    /// The event's own number; the pair of process and number is unique in a trace.
    public var id: EventID = 0
    /// The event in which this one happened, on the same thread.
    public var parent: EventID = 0
    /// The innermost scope that was open, as the number of its ``Scope`` event.
    public var scope: EventID = 0
    /// When it began, in nanoseconds since the trace began.
    public var start: UInt64 = 0
    /// How long it took, in nanoseconds.
    public var duration: UInt64 = 0
    /// How long the thread was ready to run within it and waited for a CPU, in nanoseconds.
    ///
    /// Known of events that took half a millisecond or longer and did not sleep; 0 for all others.
    public var runDelay: UInt64 = 0
    /// The kernel's number of the thread that did the work.
    public var thread: UInt32 = 0
    /// Whether that thread is the process's first.
    public var isMainThread = false
    /// The context that the work was done for.
    public var context: DictionaryID = 0
    /// The call site as the compiler knew it (`#fileID`, `#line`), where the API could take it.
    public var site: DictionaryID = 0
    /// The call stack.
    public var stack: DictionaryID = 0
    /// Time that recording took from the program for this event, in nanoseconds.
    ///
    /// Sampled: most events carry 0, and those that were measured carry it for the ones that were not, so that the sum
    /// over a trace is an estimate of the whole.
    public var overhead: UInt32 = 0
    /// How long it took while its thread ran or slept, in nanoseconds: what it takes wherever CPUs are free.
    public var ownDuration: UInt64 { duration > runDelay ? duration - runDelay : 0 }
    /// What another tool's recording does not tell of this event: 0 stands for nothing then.
    public var untold: Untold = []
    /// The fields of the event's kind.
    public var detail: Detail

    /// An event with every common field zero but those given.
    public init(
        id: EventID = 0, parent: EventID = 0, scope: EventID = 0, start: UInt64 = 0, duration: UInt64 = 0,
        thread: UInt32 = 0, isMainThread: Bool = false, process: UInt32 = 0, context: DictionaryID = 0,
        site: DictionaryID = 0, stack: DictionaryID = 0, overhead: UInt32 = 0, runDelay: UInt64 = 0,
        _ detail: Detail
    ) {
        self.process = process
        self.id = id
        self.parent = parent
        self.scope = scope
        self.start = start
        self.duration = duration
        self.thread = thread
        self.isMainThread = isMainThread
        self.context = context
        self.site = site
        self.stack = stack
        self.overhead = overhead
        self.runDelay = runDelay
        self.detail = detail
    }

    /// Figures that a recording leaves out.
    public struct Untold: OptionSet, Sendable, Hashable {
        public let rawValue: UInt8

        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// How long the event took.
        public static let duration = Untold(rawValue: 1)
        /// How many rows it returned or wrote.
        public static let rows = Untold(rawValue: 2)
    }

    /// The fields of one kind of event.
    public enum Detail: Sendable, Hashable {
        case fetch(Fetch)
        case batch(Batch)
        case fault(Fault)
        case cacheMiss(CacheMiss)
        case save(Save)
        case sql(Statement)
        case use(Use)
        case scope(Scope)
        case merge(Merge)
        case refresh(Refresh)
        case wait(Wait)
        case release(Release)
    }

    /// What happened.
    public var kind: EventKind {
        switch detail {
        case .fetch: .fetch
        case .batch: .batch
        case .fault: .fault
        case .cacheMiss: .cacheMiss
        case .save: .save
        case .sql: .sql
        case .use: .use
        case .scope: .scope
        case .merge: .merge
        case .refresh: .refresh
        case .wait: .wait
        case .release: .release
        }
    }

    /// When it ended, in nanoseconds since the trace began.
    public var end: UInt64 { start &+ duration }
}
