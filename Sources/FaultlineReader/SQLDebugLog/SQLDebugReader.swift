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

    private let translation = SQLDebugTranslation()
    /// Whether the log has a JSON object per message.
    private var hasObjects = false
    /// The data in the log that not every log has.
    private var contents = SQLDebugContents()

    // The state that each pass resets.
    private var threads: [SQLDebugLine.Writer: SQLDebugThread] = [:]
    private var firstTime: UInt64?

    init(path: String) {
        self.path = path
    }

    private static func head(of path: String) throws(ReaderError) -> String {
        String(decoding: try LineReader.head(of: path, length: searchLength), as: UTF8.self)
    }

    /// Whether a file contains lines of Core Data.
    static func isLog(_ path: String) throws(ReaderError) -> Bool {
        var head = try head(of: path)
        if LogObject.areIn(head) { return true }
        if head.utf8.contains(0x1B) { head = TerminalColours.removed(from: head) }
        return ["CoreData: sql: ", "CoreData: annotation: ", "[com.apple.coredata:sql]"].contains { head.contains($0) }
    }

    func readEvents(_ body: (TraceMessage) throws -> Void) throws -> ReadingSummary {
        hasObjects = LogObject.areIn(try Self.head(of: path))
        // The first pass learns the names of tables, the second collects all names, and the third delivers events
        // after them.
        try pass { writer, operation in translation.learn(operation, of: writer) }
        translation.finishLearning()
        try pass { writer, operation in try translation.translate(operation, of: writer) { _ in } }
        for (process, program) in programs {
            try body(
                .began(
                    ProcessBegan(process: process, program: program, source: .sqlDebug, gaps: contents.gaps)))
            try translation.names.forEach(of: process, body)
        }
        summary = ReadingSummary()
        summary.entries = translation.names.entries.count
        var counts: [UInt32: UInt64] = [:]
        try pass { writer, operation in
            try translation.translate(operation, of: writer) { event in
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

    // MARK: Lines

    private func pass(
        _ body: (SQLDebugLine.Writer, SQLDebugThread.Operation) throws -> Void
    ) throws {
        (threads, firstTime) = ([:], nil)
        translation.begin()
        let lines = try LogLines(path: path, hasObjects: hasObjects)
        // The line that may continue, or be followed by its plan.
        var open: (line: SQLDebugLine, number: Int, lines: Int)?
        var last: SQLDebugLine.Writer?
        while let next = try lines.next(all: open != nil || last != nil) {
            switch next {
            case .coreData(let line, let number):
                if let open { last = try take(open.line, number: open.number, body) }
                open = (line, number, 1)
            case .malformed(let number): summary.countMalformed(line: number, "it is not a JSON object")
            case .other(let text, let number):
                if let line = open?.line, let count = open?.lines, count < LogContinuation.maximumLines,
                    LogContinuation.continues(line, text)
                {
                    let glue = line.category == "sql" ? " " : "\n"
                    open?.line.text = (line.text + glue + text.drop { $0 == " " || $0 == "\t" })[...]
                    open?.lines += 1
                    continue
                }
                if let line = open { last = try take(line.line, number: line.number, body) }
                open = nil
                if let writer = last, threads[writer]?.take(planLine: text) == true { continue }
                last = nil
                if SQLDebugLine.isLookAlike(text) { summary.countUnknownLine(line: number, text) }
            }
        }
        if let open { _ = try take(open.line, number: open.number, body) }
        summary.lines += lines.count
        for writer in threads.keys.sorted(by: { ($0.process, $0.thread) < ($1.process, $1.thread) }) {
            try threads[writer]?.finish { try body(writer, $0) }
        }
    }

    /// Processes a complete line.
    ///
    /// - Returns: The line's writer, if lines without a mark may belong to it.
    private func take(
        _ line: SQLDebugLine, number: Int,
        _ body: (SQLDebugLine.Writer, SQLDebugThread.Operation) throws -> Void
    ) throws -> SQLDebugLine.Writer? {
        var line = line
        let writer = line.writer
        if let index = programs.firstIndex(where: { $0.process == writer.processNumber }) {
            if programs[index].name.isEmpty { programs[index].name = String(line.program) }
        } else {
            programs.append((writer.processNumber, String(line.program)))
        }
        if firstTime == nil { firstTime = line.time }
        line.time = line.time.flatMap { time in firstTime.map { time >= $0 ? time - $0 : 0 } }
        contents.add(line)
        // A batch may be loaded on another thread than its fetch, which is still held there until that thread's next
        // line.
        if line.category == "sql", line.text.contains("_Z_intarray") { try settle(all: writer, body) }
        // A fault can be on an object fetched by another thread, whose fetch is still held until that thread's next
        // line.
        if line.category == "annotation", line.text.contains("fulfilled from database") {
            for other in others(of: writer) { try threads[other]?.finishWhole { try body(other, $0) } }
        }
        let isUnderstood = try threads[writer, default: SQLDebugThread()].take(line) { try body(writer, $0) }
        if !isUnderstood { summary.countUnknownLine(line: number, "\(line.category): \(line.text)") }
        return threads[writer]?.awaitsPlan == true ? writer : nil
    }

    /// Emits the operations that a thread has finished, and the finished fetches of IDs on the process's other
    /// threads.
    private func settle(
        all writer: SQLDebugLine.Writer, _ body: (SQLDebugLine.Writer, SQLDebugThread.Operation) throws -> Void
    ) throws {
        // A new statement ends the thread's previous operation.
        try threads[writer]?.finishClosed { try body(writer, $0) }
        for other in others(of: writer) {
            try threads[other]?.finishIdentities { try body(other, $0) }
        }
    }

    /// The other threads of a process, in the order of their numbers.
    private func others(of writer: SQLDebugLine.Writer) -> [SQLDebugLine.Writer] {
        threads.keys.filter { $0.process == writer.process && $0 != writer }.sorted { $0.thread < $1.thread }
    }
}

// MARK: - The format

/// The log of Core Data for `-com.apple.CoreData.SQLDebug`, mixed with other output.
extension SQLDebugReader: TraceSource {
    package static let name = "sqlDebug"

    package static func recognition(of file: TraceFile) throws(ReaderError) -> TraceRecognition {
        if file.isDirectory { return .no }
        // "log show --style json" prints an array of objects, as a timeline does.
        if file.beginsAsArray {
            let mayBe = LogObject.hasKeys(file.text)
            return mayBe ? try isLog(file.path) ? .certain : .no : .no
        }
        // A log can begin with anything, even like a file of another format.
        return try isLog(file.path) ? .possible : .no
    }
}
