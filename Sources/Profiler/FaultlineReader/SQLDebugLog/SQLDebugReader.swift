import FaultlineTrace
import Foundation

/// Reads the log that a Core Data app prints for `-com.apple.CoreData.SQLDebug`, at any level, mixed with other
/// output.
///
/// Threads are kept apart if each line names its own.
final class SQLDebugReader {
    /// The number of bytes in which the first line of Core Data must appear.
    private static let searchLength = 4 << 20

    private let path: String
    private var summary = ReadingSummary()
    /// Programs with their process numbers, in the order of the log; 1 for lines that name no process.
    private var programs: [(process: UInt32, name: String)] = []
    private var places: [UInt32: Int] = [:]

    private let translation = SQLDebugTranslation()
    /// Whether the log has a JSON object per message.
    private var hasObjects = false
    /// The data in the log that not every log has.
    private var contents = SQLDebugContents()

    private let statements = LogStatements()

    // The state that each pass resets.
    private var threads: [SQLDebugLine.Writer: SQLDebugThread] = [:]
    /// The threads of each process that hold a fetch which another thread's line can complete.
    private var holders: [SQLDebugThread.Held: [UInt32: Set<SQLDebugLine.Writer>]] = [:]
    private var firstTime: UInt64?
    /// The thread of the line before.
    private var latest: SQLDebugThread?

    init(path: String) {
        self.path = path
    }

    /// Whether a file contains lines of Core Data.
    static func isLog(_ path: String) throws(ReaderError) -> Bool {
        var head = try LineReader.head(of: path, length: searchLength)
        if LogObject.areIn(head) { return true }
        if head.contains(0x1B) { head = head.withUnsafeBytes(TerminalColours.removed) }
        return head.withUnsafeBufferPointer { bytes in
            signs.contains { bytes.position(of: $0) != nil } || hasBareLines(bytes)
        }
    }

    /// Strings in Core Data's lines.
    private static let signs: [StaticString] = [
        "CoreData: sql: ", "CoreData: annotation: ", "CoreData: details: SQLite", "[com.apple.coredata:sql]",
        "CoreData: debug: ", "CoreData: error: ",
    ]

    /// Whether a line begins like one of Core Data's without its mark.
    private static func hasBareLines(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        bytes.split(separator: 0x0A).contains { line in
            SQLDebugLine.bareMessage(UnsafeBufferPointer(rebasing: line)) != nil
        }
    }

    /// Whether a line is one of Core Data's log, and not JSON that contains its mark.
    private static func hasLine(_ head: [UInt8]) -> Bool {
        head.split(separator: 0x0A).contains { line in
            line.withUnsafeBufferPointer { bytes in
                let start = bytes.end(of: \.isSpace, from: 0)
                guard start < bytes.count, !"{}[]\",".utf8.contains(bytes[start]) else { return false }
                return signs.contains { bytes.position(of: $0, from: start) != nil }
                    || SQLDebugLine.bareMessage(bytes) != nil
            }
        }
    }

    func readEvents(_ body: (TraceMessage) throws -> Void) throws -> ReadingSummary {
        hasObjects = LogObject.areIn(try LineReader.head(of: path, length: Self.searchLength))
        // The first pass learns the names of tables, the second collects all names, and the third delivers events
        // after them: consumers look names up anew with each new one.
        try pass { thread, operation in translation.learn(operation, of: thread) }
        translation.finishLearning()
        try pass { thread, operation in try translation.translate(operation, of: thread) { _ in } }
        let gaps = contents.gaps(
            hasWriteTimes: translation.hasWriteTimes, hasEntityNames: !translation.hasDerivedNames)
        for (process, program) in programs {
            try body(.began(ProcessBegan(process: process, program: program, source: .sqlDebug, gaps: gaps)))
            try translation.names.forEach(of: process, body)
        }
        summary = ReadingSummary()
        summary.entries = translation.names.entries.count
        var counts: [UInt32: UInt64] = [:]
        try pass { thread, operation in
            try translation.translate(operation, of: thread) { event in
                summary.events += 1
                counts[event.process, default: 0] += 1
                try body(.event(event))
            }
        }
        summary.processes = programs.map(\.process)
        for (process, _) in programs {
            try body(.ended(ProcessEnded(process: process, end: translation.end, events: counts[process] ?? 0)))
        }
        return summary
    }

    // MARK: - Lines

    private func pass(
        _ body: (SQLDebugThread, SQLDebugThread.Operation) throws -> Void
    ) throws {
        (threads, holders, latest, firstTime) = ([:], [:], nil, nil)
        translation.begin()
        let lines = try LogLines(path: path, hasObjects: hasObjects)
        // The message that may continue, or be followed by its plan.
        var open: LogMessage?
        var last: SQLDebugThread?
        while let next = try lines.next(all: open != nil || last != nil) {
            switch next {
            case .coreData(let line, let number):
                if let open { last = try take(open, body) }
                open = LogMessage(line, number: number)
            case .malformed(let number): summary.countMalformed(line: number, "it is not a JSON object")
            case .other(let text, let number):
                if open?.take(text) == true { continue }
                if let message = open { last = try take(message, body) }
                open = nil
                if last?.take(planLine: text) == true { continue }
                last = nil
                if SQLDebugLine.isLookAlike(text) { summary.countUnknownLine(line: number, text) }
            }
        }
        if let open { _ = try take(open, body) }
        summary.lines += lines.count
        let order = { (thread: SQLDebugThread) in (thread.writer.process, thread.writer.thread) }
        for thread in threads.values.sorted(by: { order($0) < order($1) }) {
            try thread.finish { try body(thread, $0) }
            if let line = thread.lost { summary.countUnknownLine(line: line.number, "annotation: \(line.text)") }
        }
    }

    /// Processes a complete message.
    ///
    /// - Returns: The message's thread, if lines without a mark may belong to it.
    private func take(
        _ message: LogMessage, _ body: (SQLDebugThread, SQLDebugThread.Operation) throws -> Void
    ) throws -> SQLDebugThread? {
        let line = message.whole()
        let thread = thread(of: line)
        if firstTime == nil { firstTime = line.time }
        line.time = line.time.flatMap { time in firstTime.map { time >= $0 ? time - $0 : 0 } }
        contents.add(line)
        let statement = line.category == .sql ? statements[line.text] : nil
        // A batch may be loaded on another thread than its fetch, which is still held there until that thread's next
        // line.
        if statement?.hasKeyList == true {
            // A new statement ends the thread's previous operation.
            try thread.finishClosed { try body(thread, $0) }
            try finish(.identities, exceptOf: thread, body)
        }
        // A fault can be on an object fetched by another thread, whose fetch is still held until that thread's next
        // line.
        if line.category == .annotation, !holders.isEmpty, line.text.has("fulfilled from database") {
            try finish(.whole, exceptOf: thread, body)
        }
        let isUnderstood = try thread.take(line, statement) { try body(thread, $0) }
        list(thread)
        for line in [thread.lost, isUnderstood ? nil : line].compactMap(\.self) {
            summary.countUnknownLine(line: line.number, "\(line.category.rawValue): \(line.text)")
        }
        return thread.awaitsPlan ? thread : nil
    }

    /// The thread that wrote a line; most lines are of the thread of the line before.
    private func thread(of line: SQLDebugLine) -> SQLDebugThread {
        if let latest, latest.writer == line.writer, latest.isNamed || line.program.isEmpty { return latest }
        let thread = threads[line.writer] ?? SQLDebugThread(line.writer)
        threads[line.writer] = thread
        latest = thread
        let index = places[thread.process] ?? programs.count
        if index == programs.count {
            places[thread.process] = index
            programs.append((thread.process, ""))
        }
        if programs[index].name.isEmpty { programs[index].name = String(line.program) }
        thread.isNamed = !programs[index].name.isEmpty
        return thread
    }

    /// Notes what a thread holds after a line.
    private func list(_ thread: SQLDebugThread) {
        let held = thread.held
        if held == thread.listed { return }
        for kind in [SQLDebugThread.Held.identities, .whole] {
            if held.contains(kind) {
                holders[kind, default: [:]][thread.writer.process, default: []].insert(thread.writer)
            } else {
                holders[kind]?[thread.writer.process]?.remove(thread.writer)
            }
        }
        thread.listed = held
    }

    /// Emits the fetches of a kind that the other threads of a process hold, in the order of the threads' numbers.
    private func finish(
        _ kind: SQLDebugThread.Held, exceptOf thread: SQLDebugThread,
        _ body: (SQLDebugThread, SQLDebugThread.Operation) throws -> Void
    ) throws {
        guard let writers = holders[kind]?[thread.writer.process], !writers.isEmpty else { return }
        for writer in writers.subtracting([thread.writer]).sorted(by: { $0.thread < $1.thread }) {
            guard let other = threads[writer] else { continue }
            try other.finishClosed { try body(other, $0) }
            list(other)
        }
    }
}

// MARK: - The format

/// The log of Core Data for `-com.apple.CoreData.SQLDebug`, mixed with other output.
extension SQLDebugReader: TraceSource {
    package static let name = "sqlDebug"
    package static let foreignFiles: String? = "Core Data's log (-com.apple.CoreData.SQLDebug 1)"

    package static func recognition(of file: TraceFile) throws(ReaderError) -> TraceRecognition {
        if file.isDirectory { return .no }
        // "log show --style json" prints an array of objects, as a timeline does.
        if file.beginsAsArray {
            if LogObject.hasKeys(file.text) { return try isLog(file.path) ? .certain : .no }
            // Other output can also print an array before Core Data's first line.
            return hasLine(try LineReader.head(of: file.path, length: searchLength)) ? .certain : .no
        }
        // A log can begin with anything, even like a file of another format.
        return try isLog(file.path) ? .possible : .no
    }
}
