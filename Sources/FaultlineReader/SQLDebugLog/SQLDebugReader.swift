import FaultlineTrace
import Foundation

/// Reads what an app of Core Data's printed for `-com.apple.CoreData.SQLDebug`, at any level, mixed with other output.
///
/// Threads are told apart where each line names its own.
final class SQLDebugReader {
    /// Bytes in which the first line of Core Data's must come.
    private static let searchLength = 4 << 20

    private let path: String
    private var summary = ReadingSummary()
    /// Programs by their processes' numbers, in the order in which they come; 1 where none is told.
    private var programs: [(process: UInt32, name: String)] = []

    private let translation = SQLDebugTranslation()
    /// Whether the log has an object of JSON for each message.
    private var hasObjects = false
    /// What the lines show that not every log does.
    private var contents = SQLDebugContents()

    // What begins anew with each pass.
    private var threads: [SQLDebugLine.Writer: SQLDebugThread] = [:]
    private var firstTime: UInt64?

    init(path: String) {
        self.path = path
    }

    private static func head(of path: String) throws(ReaderError) -> String {
        String(decoding: try LineReader.head(of: path, length: searchLength), as: UTF8.self)
    }

    /// Whether a text has lines of Core Data's.
    static func isLog(_ path: String) throws(ReaderError) -> Bool {
        var head = try head(of: path)
        if LogObject.areIn(head) { return true }
        if head.utf8.contains(0x1B) { head = LogLines.plain(head) }
        return ["CoreData: sql: ", "CoreData: annotation: ", "[com.apple.coredata:sql]"].contains { head.contains($0) }
    }

    func readEvents(_ body: (TraceMessage) throws -> Void) throws -> ReadingSummary {
        hasObjects = LogObject.areIn(try Self.head(of: path))
        // First what tables are called, then every name, then the events: each comes after what it refers to.
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
        // A line that may go on, and whose plan may come.
        var open: (line: SQLDebugLine, number: Int, lines: Int)?
        var last: SQLDebugLine.Writer?
        while let next = try lines.next(all: open != nil || last != nil) {
            switch next {
            case .coreData(let line, let number):
                if let open { last = try take(open.line, number: open.number, body) }
                open = (line, number, 1)
            case .malformed(let number): summary.countMalformed(line: number, "it is no JSON object")
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
                if SQLDebugLine.isLookAlike(text) { summary.countNotUnderstood(line: number, text) }
            }
        }
        if let open { _ = try take(open.line, number: open.number, body) }
        summary.lines += lines.count
        for writer in threads.keys.sorted(by: { ($0.process, $0.thread) < ($1.process, $1.thread) }) {
            try threads[writer]?.finish { try body(writer, $0) }
        }
    }

    /// Takes in a whole line.
    ///
    /// - Returns: Who wrote it, if lines without a mark may belong to it.
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
        // A batch may be loaded on another thread than its fetch, which waits there for its next line.
        if line.category == "sql", line.text.contains("_Z_intarray") { try settle(all: writer, body) }
        // A fault can be on an object that another thread fetched, whose fetch waits there for its next line.
        if line.category == "annotation", line.text.contains("fulfilled from database") {
            for other in others(of: writer) { try threads[other]?.finishWhole { try body(other, $0) } }
        }
        let isUnderstood = try threads[writer, default: SQLDebugThread()].take(line) { try body(writer, $0) }
        if !isUnderstood { summary.countNotUnderstood(line: number, "\(line.category): \(line.text)") }
        return threads[writer]?.awaitsPlan == true ? writer : nil
    }

    /// Gives what a thread has finished, and the fetches of identities that the others of its process have.
    private func settle(
        all writer: SQLDebugLine.Writer, _ body: (SQLDebugLine.Writer, SQLDebugThread.Operation) throws -> Void
    ) throws {
        // A new statement ends what came before it on the thread itself.
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

/// What Core Data logged for `-com.apple.CoreData.SQLDebug`, mixed with other output.
extension SQLDebugReader: TraceSource {
    package static let name = "sqlDebug"

    package static func recognition(of file: TraceFile) throws(ReaderError) -> TraceRecognition {
        if file.isDirectory { return .no }
        // "log show --style json" prints an array of objects, as a timeline is one.
        if file.beginsAsArray {
            let mayBe = LogObject.hasKeys(file.text)
            return mayBe ? try isLog(file.path) ? .certain : .no : .no
        }
        // A log can begin with anything, even with what other files begin with.
        return try isLog(file.path) ? .possible : .no
    }
}
