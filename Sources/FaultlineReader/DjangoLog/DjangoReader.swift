import FaultlineTrace

/// Reads the output of Django's logger `django.db.backends` at level DEBUG, in any format and mixed with other output.
///
/// It yields statements with their durations. The values in the log are not kept.
final class DjangoReader {
    /// The number of bytes within which the first record must end.
    private static let searchLength = 4 << 20
    /// The latest start time of an event, in nanoseconds since the log began.
    private static let latest = 100 * LogTime.day

    /// A process with its dictionary and the number of its events.
    private struct Process {
        var gaps: [TraceGap]
        var names = EntryTable()
        var events: UInt64 = 0
    }

    private let path: String
    private var summary = ReadingSummary()
    private var processes: [UInt32: Process] = [:]
    private var firstTime: UInt64?
    /// The last time, and the days passed since the first one in a log without dates.
    private var lastTime: UInt64 = 0, days: UInt64 = 0
    private var end: UInt64 = 0
    /// The end of the file when the names were read; a program can append to the log in the meantime.
    private var endOfNames: Int?

    init(path: String) {
        self.path = path
    }

    func readNames(_ body: (TraceMessage) throws -> Void) throws {
        try pass { record in
            let number = record.process
            if processes[number] == nil {
                processes[number] = Process(gaps: Self.gaps(of: record.mark.prefix))
                summary.processes.append(number)
            }
            _ = processes[number]?.names.id(.statement(StatementEntry(sql: record.statement.sql)))
        }
        for number in summary.processes {
            guard let process = processes[number] else { continue }
            // The log does not say which database it is.
            let began = ProcessBegan(process: number, source: .django, system: "other_sql", gaps: process.gaps)
            try body(.began(began))
            try process.names.forEach(of: number, body)
        }
    }

    func readEvents(_ body: (TraceMessage) throws -> Void) throws -> ReadingSummary {
        var summary = ReadingSummary()
        summary.processes = self.summary.processes
        summary.entries = processes.values.reduce(0) { $0 + $1.names.entries.count }
        self.summary = summary
        try pass { record in try body(.event(event(record))) }
        for number in summary.processes {
            try body(.ended(ProcessEnded(process: number, end: end, events: processes[number]?.events ?? 0)))
        }
        return self.summary
    }

    // MARK: - Lines

    private func pass(_ body: (DjangoRecord) throws -> Void) throws {
        let lines = try LineReader(path: path)
        var records = DjangoRecords()
        var end = 0
        while let line = try lines.next() {
            if let endOfNames, line.end > endOfNames { break }
            end = line.end
            summary.lines += 1
            if line.isTooLong {
                records.skipLongLine(number: line.number)
            } else {
                let bytes = UnsafeRawBufferPointer(start: line.start, count: line.length)
                Self.withText(of: bytes) { records.take($0, number: line.number) }
            }
            try take(&records, body)
        }
        endOfNames = end
        summary.isTruncated = records.finish()
        try take(&records, body)
    }

    private func take(_ records: inout DjangoRecords, _ body: (DjangoRecord) throws -> Void) rethrows {
        for line in records.broken { summary.countMalformed(line: line, "its record breaks off") }
        for (line, word) in records.unknown { summary.countUnknownLine(line: line, word) }
        records.forgetProblems()
        for record in records.whole { try body(record) }
        records.whole.removeAll(keepingCapacity: true)
    }

    /// Passes a line to `body` without its carriage return and without colours.
    private static func withText(of line: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) -> Void) {
        var bytes = line
        if bytes.last == 0x0D { bytes = UnsafeRawBufferPointer(rebasing: bytes.dropLast()) }
        if bytes.contains(0x1B) {
            TerminalColours.removed(from: bytes).withUnsafeBytes(body)
        } else {
            body(bytes)
        }
    }

    // MARK: - Events

    private func event(_ record: DjangoRecord) -> TraceEvent {
        let number = record.process
        var statement = TraceEvent.Statement()
        let entry = DictionaryEntry.statement(StatementEntry(sql: record.statement.sql))
        statement.statement = processes[number]?.names.id(entry) ?? 0
        statement.type = record.statement.type
        summary.events += 1
        processes[number]?.events += 1
        var event = TraceEvent(
            id: EventID(summary.events), start: start(of: record.mark), duration: record.mark.duration,
            thread: record.mark.prefix.thread, process: number, .sql(statement))
        if statement.type != .transaction { event.unrecorded = .rows }
        end = max(end, event.start + event.duration)
        return event
    }

    /// The start time of a statement, whose record is written when it ends.
    ///
    /// In a log without times each statement begins when the previous one ends.
    private func start(of mark: DjangoMark) -> UInt64 {
        guard let time = mark.prefix.time else { return min(end, Self.latest) }
        var now = time.nanoseconds + days
        // Midnight has passed.
        if !time.hasDate, now + LogTime.day / 2 < lastTime {
            days += LogTime.day
            now += LogTime.day
        }
        lastTime = now
        let first = firstTime ?? now - min(now, mark.duration)
        firstTime = first
        let ended = min(now - min(now, first), Self.latest)
        return ended - min(ended, mark.duration)
    }

    /// The gaps of a log, given the prefix of its first record.
    private static func gaps(of prefix: DjangoPrefix) -> [TraceGap] {
        var gaps: [TraceGap] = [
            .init(.operations), .init(.rows), .init(.callSites), .init(.threads), .init(.counters), .init(.values),
            .init(.waits), .init(.plans), .init(.exactTimes), .init(.shortDurations),
        ]
        if prefix.time?.isExact != true { gaps.append(.init(.startTimes, remedy: "{asctime} in the format")) }
        return gaps
    }
}

// MARK: - The format

/// A log of Django's statements, mixed with other output.
extension DjangoReader: TraceSource {
    package static let name = "django"
    package static let capabilities: TraceCapabilities = .readingAhead

    package static func recognition(of file: TraceFile) throws(ReaderError) -> TraceRecognition {
        if file.isDirectory || file.beginsAsArray { return .no }
        let head = try LineReader.head(of: file.path, length: searchLength)
        guard head.withUnsafeBytes({ DjangoArguments.areIn($0) }) else { return .no }
        var records = DjangoRecords()
        for line in head.split(separator: 0x0A) {
            line.withUnsafeBytes { bytes in withText(of: bytes) { records.take($0, number: 1) } }
            if !records.whole.isEmpty { return .possible }
        }
        return .no
    }
}
