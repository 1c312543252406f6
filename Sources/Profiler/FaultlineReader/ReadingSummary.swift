/// Counts of the lines, events and packets that were read from a trace, and of those that were skipped.
public struct ReadingSummary: Sendable, Hashable {
    /// A line that could not be read.
    package struct MalformedLine: Sendable, Hashable {
        /// The line's number, from 1; 0 for an event of a CTF trace.
        package var number: Int
        /// The reason: `"it is not a JSON object"`.
        package var reason: String

        package init(number: Int, reason: String) {
            self.number = number
            self.reason = reason
        }
    }

    /// Packets of a CTF trace that could not be read.
    package struct DamagedStream: Sendable, Hashable {
        /// The file of their stream.
        package var file: String
        /// The number of packets; adjacent ones with damaged headers count as one.
        package var packets: Int

        package init(file: String, packets: Int) {
            self.file = file
            self.packets = packets
        }
    }

    /// Lines of the file, including brackets and blank lines; 0 for a CTF trace.
    package var lines = 0
    /// Events that were read.
    package var events = 0
    /// Dictionary entries that were read.
    package var entries = 0
    /// Well-formed lines of other producers, and of kinds that this version does not know.
    package var foreignLines = 0
    /// Keys of events that this version does not know; it read the events without them.
    package var unknownKeys = 0
    /// Lines or events that could not be read; each costs only itself.
    public var malformedLines = 0
    /// The first malformed line.
    package var firstMalformed: MalformedLine?
    /// Log lines that look like Core Data's and contain nothing that this version understands.
    package var linesNotUnderstood = 0
    /// The first line that was not understood, with its text as the reason.
    package var firstNotUnderstood: MalformedLine?
    /// Whether the file is cut off: its last line is not the closing bracket.
    ///
    /// This is normal if the program was killed.
    package var isTruncated = false
    /// The processes of the trace, in the order in which they began.
    package var processes: [UInt32] = []
    /// The processes whose end is not in the trace: they were killed, or are still running.
    package var unendedProcesses: [UInt32] = []

    /// The number of recordings that begin more than once, because joined files contain their events twice.
    package var repeatedRecordings = 0

    /// The streams with CTF packets that could not be read; the events in them are missing.
    package var damagedStreams: [DamagedStream] = []
    /// Packets of events that LTTng had no room for, with an unknown number of events.
    package var lostPackets: UInt64 = 0
    /// Dictionary entries, and packets of them, that LTTng had no room for; names are missing.
    package var lostEntries: UInt64 = 0

    /// Lines, events and packets that could not be read; their contents are missing.
    package var unread: UInt64 {
        UInt64(malformedLines) &+ UInt64(linesNotUnderstood) &+ lostPackets
            &+ damagedStreams.reduce(0) { $0 &+ UInt64($1.packets) }
    }

    package init() {}

    mutating func countUnknownLine(line number: Int, _ text: some StringProtocol) {
        linesNotUnderstood += 1
        if firstNotUnderstood == nil {
            firstNotUnderstood = MalformedLine(number: number, reason: String(text.prefix(80)))
        }
    }

    mutating func countMalformed(line number: Int = 0, _ reason: String) {
        malformedLines += 1
        if number < firstMalformed?.number ?? .max { firstMalformed = MalformedLine(number: number, reason: reason) }
    }
}

/// Reports how far the reading of a file is.
///
///     try ReadingProgress.$observer.withValue(.init { print("\($0) of \($1) bytes") }) { try reader.begin() }
package enum ReadingProgress {
    /// A function that is called while a file is read.
    ///
    /// A type of its own, because optimized code of Swift 6.3 crashes in `withValue` of a task-local value that is an optional
    /// function.
    package struct Observer: Sendable {
        /// Called with the number of bytes that were read and the file's size, after each megabyte and on any thread.
        package let show: @Sendable (_ done: UInt64, _ total: UInt64) -> Void

        package init(_ show: @escaping @Sendable (_ done: UInt64, _ total: UInt64) -> Void) {
            self.show = show
        }
    }

    /// The observer of this thread's reading.
    ///
    /// A file is read once for its names and once for its events. Formats that are not read line by line report
    /// nothing.
    @TaskLocal package static var observer: Observer?
}
