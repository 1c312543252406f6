import CTimelineParser
import CTraceSchema
import FaultlineTrace
import Foundation

/// Reads a JSON timeline line by line.
final class TimelineReader: DictionaryEntryDecoder {
    private let path: String
    private let parser: OpaquePointer
    private let line: UnsafeMutablePointer<ftl_line>
    private let decoder = JSONDecoder()
    private var recordings: Set<Recording> = []

    /// Identifies a recording within a timeline.
    private struct Recording: Hashable {
        let process: UInt32
        let date: Double
    }
    private var summary = ReadingSummary()
    /// The number of lines that Faultline wrote.
    private var ownLines = 0
    private var ended: Set<UInt32> = []
    private var known: Set<UInt32> = []
    /// The file's length when its names were read.
    private var end = Int.max

    init(path: String) throws(ReaderError) {
        self.path = path
        guard let parser = ftl_parser_create() else { throw .outOfMemory(path) }
        self.parser = parser
        line = .allocate(capacity: 1)
        memset(line, 0, MemoryLayout<ftl_line>.size)
    }

    deinit {
        ftl_parser_destroy(parser)
        line.deallocate()
    }

    /// The first pass: the beginnings of processes, and the dictionary.
    ///
    /// The second pass counts the damaged lines.
    func readNames(_ body: (TraceMessage) throws -> Void) throws {
        let lines = try LineReader(path: path)
        defer { end = lines.offset }
        while let text = try lines.next() {
            // Most lines are events, which need not be parsed here.
            guard ftl_may_be_entry(text.start, text.length) != 0 else { continue }
            do {
                switch parse(text) {
                case .FTL_LINE_BEGAN:
                    let began = try decodeBegan()
                    observeProcess(began.process)
                    if !recordings.insert(Recording(process: began.process, date: began.date)).inserted {
                        summary.repeatedRecordings += 1
                    }
                    try body(.began(began))
                case .FTL_LINE_ENTRY:
                    guard let entry = try decodeEntry() else { continue }
                    summary.entries += 1
                    try body(.entry(process: line.pointee.process, id: DictionaryID(line.pointee.id), entry))
                default: continue
                }
            } catch let error as DecodingError {
                summary.countMalformed(line: text.number, error.shortReason)
            }
        }
    }

    /// The second pass: all other messages, and the counts.
    func readEvents(_ body: (TraceMessage) throws -> Void) throws -> ReadingSummary {
        let lines = try LineReader(path: path)
        var isClosed = false
        while let text = try lines.next() {
            // A running program keeps writing, and the names of these later events were not read.
            if text.offset >= end { break }
            summary.lines += 1
            if text.isTooLong {
                summary.countMalformed(line: text.number, "it is longer than 16 MiB")
                isClosed = false
                continue
            }
            let kind = parse(text)
            if kind == .FTL_LINE_BLANK { continue }
            isClosed = kind == .FTL_LINE_CLOSE
            switch kind {
            case .FTL_LINE_EVENT:
                ownLines += 1
                guard let kind = EventKind(rawValue: line.pointee.event.header.kind) else { continue }
                summary.events += 1
                summary.unknownKeys += Int(line.pointee.unknownKeys)
                observeProcess(line.pointee.event.process)
                try withUnsafePointer(to: &line.pointee.event) { try body(TraceMessage(kind, $0)) }
            case .FTL_LINE_LOST: try pass(text, EventLoss.self, [\.events]) { try body(.lost($0)) }
            case .FTL_LINE_ENDED:
                try pass(text, ProcessEnded.self, Self.endNumbers) {
                    ended.insert($0.process)
                    try body(.ended($0))
                }
            case .FTL_LINE_ENTRY, .FTL_LINE_BEGAN: ownLines += 1
            case .FTL_LINE_FOREIGN: summary.foreignLines += 1
            case .FTL_LINE_MALFORMED:
                // A last line without its newline was being written when the program was killed.
                if text.isTerminated { summary.countMalformed(line: text.number, line.pointee.problem.reason) }
            case .FTL_LINE_VIEWER, .FTL_LINE_OPEN, .FTL_LINE_CLOSE, .FTL_LINE_BLANK: break
            }
        }
        summary.isTruncated = !isClosed
        if ownLines == 0 { throw try nothingFoundError() }
        summary.unendedProcesses = summary.processes.filter { !ended.contains($0) }
        return summary
    }

    private func pass<Value: Decodable>(
        _ text: LineReader.Line, _ type: Value.Type, _ numbers: [KeyPath<Value, UInt64>],
        _ body: (Value) throws -> Void
    ) throws {
        ownLines += 1
        do {
            try body(decode(type, numbers))
        } catch let error as DecodingError {
            summary.countMalformed(line: text.number, error.shortReason)
        }
    }

    private func parse(_ text: LineReader.Line) -> ftl_line_kind {
        ftl_parse_line(parser, text.start, text.length, text.capacity, line)
    }

    /// Adds a process to the summary, once.
    ///
    /// Events come in long runs of one process, which cost one comparison each.
    private func observeProcess(_ process: UInt32) {
        if process == summary.processes.last { return }
        if known.insert(process).inserted { summary.processes.append(process) }
    }

    // MARK: - Values

    private func decodeBegan() throws -> ProcessBegan {
        struct Version: Decodable {
            var version: Int
        }
        // Decoded first, because a later version may have changed the rest.
        let version = try decode(Version.self).version
        if version > Int(FL_TRACE_VERSION) {
            throw ReaderError.newerVersion(path, found: version, known: Int(FL_TRACE_VERSION))
        }
        return try decode(ProcessBegan.self, [\.start, \.removedOrNone])
    }

    private static var endNumbers: [KeyPath<ProcessEnded, UInt64>] {
        [\.end, \.events, \.lost, \.unwritten, \.entriesLost, \.usesLost, \.writing, \.withoutRingOrNone]
    }

    /// Decodes a value and checks that its numbers are in the range allowed for events.
    private func decode<Value: Decodable>(_ type: Value.Type, _ numbers: [KeyPath<Value, UInt64>]) throws -> Value {
        let value = try decode(type)
        guard numbers.allSatisfy({ value[keyPath: $0] <= fl_largest_number }) else {
            throw DecodingError.typeMismatch(type, .init(codingPath: [], debugDescription: "a number is too large"))
        }
        return value
    }

    private func decodeEntry() throws -> DictionaryEntry? {
        guard let kind = fl_dictionary_kind(rawValue: line.pointee.dictionary) else { return nil }
        return try DictionaryEntry(kind, from: self)
    }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try decoder.decode(type, from: Data(bytes: line.pointee.json, count: line.pointee.jsonLength))
    }

    // MARK: - Failure

    /// Returns the reason why a file that looks like JSON contains nothing of Faultline's.
    private func nothingFoundError() throws(ReaderError) -> ReaderError {
        let head = try LineReader.head(of: path, length: TraceFile.headLength)
        let ours = Array("[\n{\"name\":\"faultline.began\"".utf8)
        let text = head.filter { $0 != 0x0D }
        // If a program recorded nothing, the array's brackets have no line between them.
        if summary.foreignLines == 0, summary.malformedLines == 0, !summary.isTruncated,
            text.count < TraceFile.headLength, text.filter({ $0 > 0x20 }) == Array("[]".utf8)
        {
            return .emptyRecording(path)
        }
        let beginsAsOurs = text.count < ours.count ? ours.starts(with: text) : text.starts(with: ours)
        if beginsAsOurs && summary.malformedLines == 0 { return .nothingReadable(path) }
        let hasOurEvents = head.withUnsafeBytes { bytes in
            bytes.withMemoryRebound(to: CChar.self) { ftl_may_be_entry($0.baseAddress!, $0.count) != 0 }
        }
        return hasOurEvents ? .reformatted(path) : .foreignJSON(path)
    }
}

extension ftl_problem {
    /// The problem, worded to follow "line 7 was left out: ".
    var reason: String {
        switch self {
        case .FTL_PROBLEM_NONE: "it was read"
        case .FTL_PROBLEM_SYNTAX: "it is not a JSON object"
        case .FTL_PROBLEM_NUMBER: "a number is missing, broken or too large"
        case .FTL_PROBLEM_HASH: "a hash is not a string of hexadecimal digits"
        case .FTL_PROBLEM_WORD: "a word is unknown to this version"
        case .FTL_PROBLEM_FLAG: "a flag is neither true nor false"
        case .FTL_PROBLEM_LIST: "a list is too long or has the wrong shape"
        case .FTL_PROBLEM_ENTRY: "its contents are missing"
        case .FTL_PROBLEM_MEMORY: "there was not enough memory for it"
        }
    }
}

extension DecodingError {
    /// The error, worded to follow "line 7 was left out: ".
    var shortReason: String {
        switch self {
        case .keyNotFound(let key, _): "its \"\(key.stringValue)\" is missing"
        case .typeMismatch(_, let context), .valueNotFound(_, let context):
            "its \"\(context.codingPath.last?.stringValue ?? "value")\" has the wrong type"
        case .dataCorrupted: "it is not a JSON object"
        @unknown default: "it cannot be decoded"
        }
    }
}

// MARK: - The format

/// A JSON timeline: Chrome's Trace Event format in its array form, with one event per line.
extension TimelineReader: TraceSource {
    package static let name = "timeline"
    package static let capabilities: TraceCapabilities = [.recovery, .symbols, .readingAhead]

    package static func recognition(of file: TraceFile) -> TraceRecognition {
        if file.isDirectory { return .no }
        if file.beginsAsArray { return .certain }
        let first = file.firstCharacters.first
        return first == UInt8(ascii: "[") || first == UInt8(ascii: "{") ? .possible : .no
    }
}

extension ProcessBegan {
    fileprivate var removedOrNone: UInt64 { removed ?? 0 }
}

extension ProcessEnded {
    fileprivate var withoutRingOrNone: UInt64 { withoutRing ?? 0 }
}
