import FaultlineTrace

/// Reads the statements of a log, in any format and mixed with other output.
///
/// The values in the log are not kept.
final class StatementLogReader<Log: StatementLog> {
    /// The number of bytes within which the first record must end.
    private static var searchLength: Int { 4 << 20 }
    /// The latest start time of an event, in nanoseconds since the log began.
    private static var latest: UInt64 { 100 * LogTime.day }

    /// A process with its dictionary and the number of its events.
    private struct Process {
        var contents: LogContents
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
    private var lastEvent: EventID = 0
    /// The request that goes on, with its event and its process.
    private var request: (logged: LoggedRequest, event: EventID, process: UInt32)?
    /// The end of the file when the names were read; a program can append to the log in the meantime.
    private var endOfNames: Int?

    init(path: String) {
        self.path = path
    }

    func readNames(_ body: (TraceMessage) throws -> Void) throws {
        try pass { statement in
            let number = statement.process
            if processes[number] == nil {
                processes[number] = Process(contents: LogContents(first: statement))
                summary.processes.append(number)
            }
            processes[number]?.contents.add(statement)
            if let request = statement.request { _ = processes[number]?.names.id(Self.name(of: request)) }
            _ = processes[number]?.names.id(.statement(StatementEntry(sql: statement.sql)))
            for entry in Self.stack(of: statement.site) { _ = processes[number]?.names.id(entry) }
        }
        for number in summary.processes {
            guard let process = processes[number] else { continue }
            let gaps = Log.gaps(of: process.contents)
            try body(.began(ProcessBegan(process: number, source: Log.source, system: Log.system, gaps: gaps)))
            try process.names.forEach(of: number, body)
        }
    }

    func readEvents(_ body: (TraceMessage) throws -> Void) throws -> ReadingSummary {
        var summary = ReadingSummary()
        summary.processes = self.summary.processes
        summary.entries = processes.values.reduce(0) { $0 + $1.names.entries.count }
        self.summary = summary
        try pass { logged in
            if logged.request != request?.logged { try changeRequest(to: logged, body) }
            try body(.event(event(logged)))
        }
        try changeRequest(to: nil, body)
        for number in summary.processes {
            try body(.ended(ProcessEnded(process: number, end: end, events: processes[number]?.events ?? 0)))
        }
        return self.summary
    }

    // MARK: - Lines

    private func pass(_ body: (LoggedStatement) throws -> Void) throws {
        let lines = try LineReader(path: path)
        var log = Log()
        var end = 0
        while let line = try lines.next() {
            if let endOfNames, line.end > endOfNames { break }
            end = line.end
            summary.lines += 1
            if line.isTooLong {
                log.skipLongLine(number: line.number)
            } else {
                let bytes = UnsafeRawBufferPointer(start: line.start, count: line.length)
                Self.withText(of: bytes) { log.take($0, number: line.number) }
            }
            try take(&log, body)
        }
        endOfNames = end
        summary.isTruncated = log.finish()
        try take(&log, body)
    }

    private func take(_ log: inout Log, _ body: (LoggedStatement) throws -> Void) rethrows {
        for problem in log.takeProblems() {
            switch problem {
            case .broken(let line): summary.countMalformed(line: line, "its record breaks off")
            case .unknown(let line, let word): summary.countUnknownLine(line: line, word)
            }
        }
        for statement in log.takeStatements() { try body(statement) }
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

    private static func name(of request: LoggedRequest) -> DictionaryEntry { .name(NameEntry(name: request.name)) }

    /// Ends the scope of the request that goes on, and begins that of a statement.
    private func changeRequest(to logged: LoggedStatement?, _ body: (TraceMessage) throws -> Void) rethrows {
        func give(_ phase: TraceEvent.Scope.Phase, _ request: (logged: LoggedRequest, event: EventID, process: UInt32))
            throws
        {
            var scope = TraceEvent.Scope()
            scope.name = processes[request.process]?.names.id(Self.name(of: request.logged)) ?? 0
            (scope.kind, scope.phase) = (.request, phase)
            let start = phase == .begin ? logged.map { self.start(of: $0) } ?? end : end
            try body(.event(TraceEvent(id: request.event, start: start, process: request.process, .scope(scope))))
            summary.events += 1
            processes[request.process]?.events += 1
        }
        if let open = request { try give(.end, open) }
        request = nil
        guard let logged, let next = logged.request else { return }
        lastEvent += 1
        request = (next, lastEvent, logged.process)
        if let request { try give(.begin, request) }
    }

    private func event(_ logged: LoggedStatement) -> TraceEvent {
        let number = logged.process
        var statement = TraceEvent.Statement()
        let entry = DictionaryEntry.statement(StatementEntry(sql: logged.sql))
        statement.statement = processes[number]?.names.id(entry) ?? 0
        statement.type = logged.type
        statement.rows = UInt32(clamping: logged.rows ?? 0)
        statement.parameters = logged.values
        summary.events += 1
        lastEvent += 1
        processes[number]?.events += 1
        var event = TraceEvent(
            id: lastEvent, scope: request?.event ?? 0, start: start(of: logged), duration: logged.duration ?? 0,
            thread: logged.thread, process: number, .sql(statement))
        if let stack = Self.stack(of: logged.site).last { event.stack = processes[number]?.names.id(stack) ?? 0 }
        if logged.duration == nil { event.unrecorded.insert(.duration) }
        if logged.rows == nil, statement.type != .transaction { event.unrecorded.insert(.rows) }
        end = max(end, event.start + event.duration)
        return event
    }

    /// The frame and the stack of a line of the program.
    private static func stack(of site: CallSite?) -> [DictionaryEntry] {
        guard let site else { return [] }
        let hash = StableHash.text("\(site.file):\(site.line) \(site.function)") | 1
        let address = "0x" + String(hash, radix: 16)
        let location = FrameEntry.Location(symbol: "", function: site.function, file: site.file, line: site.line)
        return [
            .frame(FrameEntry(address: address, module: Log.language, locations: [location])),
            .stack(StackEntry(frames: [address])),
        ]
    }

    /// The start time of a statement.
    ///
    /// In a log without times each statement begins when the previous one ends.
    private func start(of logged: LoggedStatement) -> UInt64 {
        let duration = logged.duration ?? 0
        guard let time = logged.time else { return min(end, Self.latest) }
        var now = time.nanoseconds + days
        // Midnight has passed.
        if !time.hasDate, now + LogTime.day / 2 < lastTime {
            days += LogTime.day
            now += LogTime.day
        }
        lastTime = now
        let first = firstTime ?? now - min(now, duration)
        firstTime = first
        let written = min(now - min(now, first), Self.latest)
        return logged.isTimeOfEnd ? written - min(written, duration) : written
    }
}

// MARK: - The format

extension StatementLogReader: TraceSource {
    package static var name: String { Log.name }
    package static var foreignFiles: String? { Log.foreignFiles }
    package static var capabilities: TraceCapabilities { .readingAhead }

    package static func recognition(of file: TraceFile) throws(ReaderError) -> TraceRecognition {
        if file.isDirectory || file.beginsAsArray { return .no }
        let head = try LineReader.head(of: file.path, length: searchLength)
        guard head.withUnsafeBufferPointer(Log.mayBe) else { return .no }
        var log = Log()
        for line in head.split(separator: 0x0A, omittingEmptySubsequences: false) {
            line.withUnsafeBytes { bytes in withText(of: bytes) { log.take($0, number: 1) } }
            if !log.takeStatements().isEmpty { return .possible }
        }
        // A short log can end with its only record.
        _ = log.finish()
        return log.takeStatements().isEmpty ? .no : .possible
    }
}
