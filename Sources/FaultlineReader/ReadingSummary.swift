/// What reading a trace came to: how much there was, and what could not be used.
public struct ReadingSummary: Sendable, Hashable {
    /// A line that could not be read.
    public struct MalformedLine: Sendable, Hashable {
        /// The line's number, from 1; 0: it was no line but an event of a CTF trace.
        public var number: Int
        /// Why it could not be read: `"it is no JSON object"`.
        public var reason: String

        public init(number: Int, reason: String) {
            self.number = number
            self.reason = reason
        }
    }

    /// Packets of a CTF trace that could not be read.
    public struct DamagedStream: Sendable, Hashable {
        /// The file of the stream that they are in.
        public var file: String
        /// How many there are; neighbours whose headers are damaged count as one.
        public var packets: Int

        public init(file: String, packets: Int) {
            self.file = file
            self.packets = packets
        }
    }

    /// Lines of the file, brackets and blank lines included; 0 for a CTF trace.
    public var lines = 0
    /// Events that were read.
    public var events = 0
    /// Dictionary entries that were read.
    public var entries = 0
    /// Well-formed lines of other producers, and of kinds that this version does not know.
    public var foreignLines = 0
    /// Keys of events that this version does not know; their events were read without them.
    public var unknownKeys = 0
    /// Lines or events that could not be read; each costs itself and nothing else.
    public var malformedLines = 0
    /// The first of them.
    public var firstMalformed: MalformedLine?
    /// Lines of a log that look like Core Data's and tell nothing that this version understands.
    public var linesNotUnderstood = 0
    /// The first of them, with its text for a reason.
    public var firstNotUnderstood: MalformedLine?
    /// Whether the file breaks off: its last line is not the closing bracket.
    ///
    /// Normal if the program was killed.
    public var isTruncated = false
    /// The processes of the trace, in the order in which they began.
    public var processes: [UInt32] = []
    /// Those of them whose end is not in the trace: they were killed, or still run.
    public var unendedProcesses: [UInt32] = []

    /// Recordings that begin more than once: files that were joined hold their events twice.
    public var repeatedRecordings = 0

    /// Where packets of a CTF trace could not be read, which cost the events in them.
    public var damagedStreams: [DamagedStream] = []
    /// Packets of events that LTTng had no room for; how many events they held is not known.
    public var lostPackets: UInt64 = 0
    /// Dictionary entries that LTTng had no room for, and packets of such: names are missing.
    public var lostEntries: UInt64 = 0

    /// Lines, events and packets that could not be read, each counted once: what they held is missing.
    public var unread: UInt64 {
        UInt64(malformedLines) &+ UInt64(linesNotUnderstood) &+ lostPackets
            &+ damagedStreams.reduce(0) { $0 &+ UInt64($1.packets) }
    }

    public init() {}

    mutating func countNotUnderstood(line number: Int, _ text: some StringProtocol) {
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
