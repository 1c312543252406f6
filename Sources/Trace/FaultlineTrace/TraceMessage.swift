package import CTraceSchema

/// One message of a trace; they come in the order in which they were written.
public enum TraceMessage: Sendable, Hashable {
    /// A process began to record. Precedes everything else from that process.
    case began(ProcessBegan)
    /// A dictionary entry. Precedes the first event that refers to it.
    case entry(process: UInt32, id: DictionaryID, DictionaryEntry)
    /// An event. Events of one thread come in the order in which they ended.
    case event(TraceEvent)
    /// Events were lost because a buffer was full.
    case lost(EventLoss)
    /// A process ended, or was found to have ended, and everything that it had recorded was written.
    case ended(ProcessEnded)

    /// The event that a record of a known kind holds, built in place: copying an event takes time.
    package init(_ kind: EventKind, _ record: UnsafePointer<fl_event>) {
        self = .event(TraceEvent(kind, record))
    }
}

/// The first line of a process in a trace.
public struct ProcessBegan: Sendable, Hashable, Codable {
    /// The version of the trace's format.
    public var version: Int
    /// The process's ID.
    public var process: UInt32
    /// The program's path.
    public var program: String
    /// When the recording of this process began, in nanoseconds since the trace began.
    public var start: UInt64
    /// The start in seconds since 1970.
    public var date: Double
    /// The file with recorded events that are not yet in the trace, while the process runs or if it was killed.
    public var rings: String
    /// The tool that recorded it; `nil` for Faultline.
    public var source: Source?
    /// The name of the database system, as OpenTelemetry has it; `nil` for SQLite.
    public var system: String?
    /// The data that the recording lacks; `nil` if nothing is known to be missing.
    public var gaps: [TraceGap]?
    /// Whether the program is known to be an app with screens, although its recording cannot mark any.
    public var isApp: Bool?
    /// The number of earlier events, of any process, that were removed to keep the trace below its maximum size; `nil`
    /// if none were.
    ///
    /// Only the first process of a trace states it. Each process then begins where the kept events do.
    public var removed: UInt64?

    /// A foreign tool whose recordings can be read, although they contain less.
    public enum Source: String, Sendable, Hashable, Codable, CaseIterable {
        /// Instruments, with tables exported by `xctrace`.
        case instruments
        /// Core Data's own log, written with `-com.apple.CoreData.SQLDebug`.
        case sqlDebug
        /// Django, whose logger `django.db.backends` printed its statements.
        case django
        /// SQLAlchemy, whose logger `sqlalchemy.engine` printed its statements.
        case sqlAlchemy
        /// Rails, whose log has its statements.
        case rails
        /// GRDB, whose trace of statements the program printed.
        case grdb
        /// Faultline, from outside the program: it recorded the program's calls of SQLite.
        case sqlite
    }

    /// Creates the first line of a process.
    public init(
        version: Int = 1, process: UInt32, program: String = "", start: UInt64 = 0, date: Double = 0,
        rings: String = "", source: Source? = nil, system: String? = nil, gaps: [TraceGap]? = nil, isApp: Bool? = nil,
        removed: UInt64? = nil
    ) {
        self.version = version
        self.process = process
        self.program = program
        self.start = start
        self.date = date
        self.rings = rings
        self.source = source
        self.system = system
        self.gaps = gaps
        self.isApp = isApp
        self.removed = removed
    }
}

/// How many events of a thread were lost at one time.
public struct EventLoss: Sendable, Hashable, Codable {
    /// The process; 0 if neither it nor the thread is known.
    public var process: UInt32
    /// The kernel's number of the thread; 0 if it is unknown.
    public var thread: UInt32
    /// The number of lost events.
    public var events: UInt64

    /// Creates a line about lost events.
    public init(process: UInt32, thread: UInt32, events: UInt64) {
        self.process = process
        self.thread = thread
        self.events = events
    }
}

/// The last line of a process in a trace.
public struct ProcessEnded: Sendable, Hashable, Codable {
    /// The process's ID.
    public var process: UInt32
    /// When the last line was written, in nanoseconds since the trace began.
    public var end: UInt64
    /// The number of events written, including those that a record was expanded into.
    public var events: UInt64
    /// Events that were lost, because a buffer was full or their threads had none.
    public var lost: UInt64
    /// Events among them whose threads could not get a buffer; `nil` if there are none.
    public var withoutRing: UInt64?
    /// The reason why there was no buffer, such as "No space left on device"; `nil` or empty if it is not known.
    public var ringFailure: String?
    /// Lines that were lost because the file could not be written.
    public var unwritten: UInt64
    /// Dictionary entries that were lost because their buffer was full.
    public var entriesLost: UInt64
    /// Use summaries that were lost because their buffer was full.
    public var usesLost: UInt64
    /// CPU time of writing the trace, in nanoseconds.
    public var writing: UInt64
    /// Whether the process closed its recording itself; otherwise it was killed, or still ran.
    public var isClosed: Bool
    /// Whether the recording ended while the process still ran; `nil` if the process had ended.
    public var isRunning: Bool?

    /// The way the recording of the process ended, in a word: `ended`, `killed`, or `still ran`.
    public var how: String { isClosed ? "ended" : isRunning == true ? "still ran" : "killed" }

    /// Creates the last line of a process.
    public init(
        process: UInt32, end: UInt64 = 0, events: UInt64 = 0, lost: UInt64 = 0, unwritten: UInt64 = 0,
        entriesLost: UInt64 = 0, usesLost: UInt64 = 0, writing: UInt64 = 0, isClosed: Bool = true,
        isRunning: Bool? = nil, withoutRing: UInt64? = nil, ringFailure: String? = nil
    ) {
        self.process = process
        self.end = end
        self.events = events
        self.lost = lost
        self.unwritten = unwritten
        self.entriesLost = entriesLost
        self.usesLost = usesLost
        self.writing = writing
        self.isClosed = isClosed
        self.isRunning = isRunning
        self.withoutRing = withoutRing
        self.ringFailure = ringFailure
    }
}
