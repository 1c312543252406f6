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

    // What begins anew with each pass.
    private var threads: [SQLDebugLine.Writer: SQLDebugThread] = [:]
    private var firstTime: UInt64?

    init(path: String) {
        self.path = path
    }

    /// Whether a text has lines of Core Data's.
    static func isLog(_ path: String) throws(ReaderError) -> Bool {
        let head = String(decoding: try LineReader.head(of: path, length: searchLength), as: UTF8.self)
        return ["CoreData: sql: ", "CoreData: annotation: ", "[com.apple.coredata:sql]"].contains { head.contains($0) }
    }

    func read(_ body: (TraceMessage) throws -> Void) throws -> ReadingSummary {
        // First what tables are called, then every name, then the events: each comes after what it refers to.
        try pass { writer, operation in translation.learn(operation, of: writer) }
        try pass { writer, operation in try translation.translate(operation, of: writer) { _ in } }
        for (process, program) in programs {
            try body(.began(ProcessBegan(process: process, program: program, source: .sqlDebug)))
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
        // Whose line may go on without a mark.
        var last: SQLDebugLine.Writer?
        let lines = try LineReader(path: path)
        while let bytes = try lines.next() {
            summary.lines += 1
            guard last != nil || Self.isMarked(bytes) else { continue }
            let text = String(
                decoding: UnsafeRawBufferPointer(start: bytes.start, count: bytes.length), as: UTF8.self)
            guard var line = SQLDebugLine(text[...]) else {
                if let writer = last, threads[writer]?.take(planLine: text[...]) != true { last = nil }
                continue
            }
            let process = line.writer.processNumber
            if !programs.contains(where: { $0.process == process }) {
                programs.append((process, String(line.program)))
            }
            if firstTime == nil { firstTime = line.time }
            line.time = line.time.flatMap { time in firstTime.map { time >= $0 ? time - $0 : 0 } }
            let writer = line.writer
            // A batch may be loaded on another thread than its fetch, which waits there for its next line.
            if line.category == "sql", line.text.contains("_Z_intarray") { try settle(all: writer, body) }
            try threads[writer, default: SQLDebugThread()].take(line) { try body(writer, $0) }
            last = threads[writer]?.awaitsPlan == true ? writer : nil
        }
        for writer in threads.keys.sorted(by: { ($0.process, $0.thread) < ($1.process, $1.thread) }) {
            try threads[writer]?.finish { try body(writer, $0) }
        }
    }

    /// Gives what a thread has finished, and the fetches of identities that the others of its process have.
    private func settle(
        all writer: SQLDebugLine.Writer, _ body: (SQLDebugLine.Writer, SQLDebugThread.Operation) throws -> Void
    ) throws {
        // A new statement ends what came before it on the thread itself.
        try threads[writer]?.finishClosed { try body(writer, $0) }
        let others = threads.keys.filter { $0.process == writer.process && $0 != writer }
        for other in others.sorted(by: { $0.thread < $1.thread }) {
            try threads[other]?.finishIdentities { try body(other, $0) }
        }
    }

    private static func isMarked(_ line: LineReader.Line) -> Bool {
        SQLDebugLine.marks.contains { mark in
            var place = 0
            while let found = memchr(line.start + place, Int32(mark.utf8.first ?? 0), line.length - place) {
                place = UnsafeRawPointer(line.start).distance(to: found)
                guard place + mark.utf8.count <= line.length else { return false }
                if memcmp(found, mark, mark.utf8.count) == 0 { return true }
                place += 1
            }
            return false
        }
    }
}
