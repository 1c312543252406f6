import Foundation

/// Reads the lines of a log in any form that a tool prints: plain, coloured, or one JSON object per message.
///
/// The first line of a multi-line message has a mark, the others do not.
final class LogLines {
    enum Line {
        case coreData(SQLDebugLine, number: Int)
        /// A line without a mark of Core Data's.
        case other(Substring, number: Int)
        case malformed(number: Int)
    }

    private let lines: LineReader
    /// Whether messages are JSON objects.
    private let hasObjects: Bool
    private var object = LogObject()
    /// Lines of JSON objects that were read and not yet returned, the last one first.
    private var waiting: [Line] = []
    /// The number of lines read so far.
    private(set) var count = 0

    init(path: String, hasObjects: Bool) throws(ReaderError) {
        lines = try LineReader(path: path)
        self.hasObjects = hasObjects
    }

    /// Returns the next line, or `nil` after the last.
    ///
    /// - Parameter all: Whether to include lines that neither have Core Data's mark nor look like its lines.
    func next(all: Bool) throws(ReaderError) -> Line? {
        while true {
            if let line = waiting.popLast() { return line }
            guard let bytes = try lines.next() else { return nil }
            count += 1
            if hasObjects {
                takeObjects(in: bytes)
                continue
            }
            let isColoured = memchr(bytes.start, 0x1B, bytes.length) != nil
            guard all || isColoured || SQLDebugLine.isRelevant(bytes) else { continue }
            let text = Self.text(bytes, isColoured: isColoured)
            if let line = SQLDebugLine(text[...]) { return .coreData(line, number: bytes.number) }
            return .other(text[...], number: bytes.number)
        }
    }

    private func takeObjects(in bytes: LineReader.Line) {
        for text in object.take(UnsafeRawBufferPointer(start: bytes.start, count: bytes.length)) {
            guard let message = LogObject.Message(text) else {
                waiting.append(.malformed(number: bytes.number))
                continue
            }
            // A carriage return and a line feed form a single `Character`, which would hide the line feed.
            let text = String(decoding: message.text.utf8.filter { $0 != 0x0D }, as: UTF8.self)
            let parts = TerminalColours.removed(from: text).utf8
                .split(separator: 0x0A, omittingEmptySubsequences: false).map { Substring($0) }
            guard let line = SQLDebugLine(message: parts.first ?? "", category: message.category) else { continue }
            (line.writer, line.program, line.time) = (message.writer, message.program, message.time)
            waiting.append(.coreData(line, number: bytes.number))
            waiting += parts.dropFirst().map { .other($0, number: bytes.number) }
        }
        waiting.reverse()
    }

    private static func text(_ bytes: LineReader.Line, isColoured: Bool) -> String {
        var length = bytes.length
        while length > 0, bytes.start[length - 1] == 0x0D { length -= 1 }
        let text = String(decoding: UnsafeRawBufferPointer(start: bytes.start, count: length), as: UTF8.self)
        return isColoured ? TerminalColours.removed(from: text) : text
    }
}

extension SQLDebugLine {
    /// Strings in Core Data's lines that remain when another tool has removed the mark.
    private static let signs: [StaticString] = [
        "annotation: sql ", "annotation: total ", "annotation: fault ", "annotation: to-many ",
        "fetch execution time: ",
    ]

    /// Whether a line without a mark looks like one of Core Data's.
    static func isLookAlike(_ text: Substring) -> Bool { signs.contains { text.has($0) } }

    /// Whether a line has Core Data's mark, or looks as if it once had.
    static func isRelevant(_ line: LineReader.Line) -> Bool {
        let bytes = UnsafeRawBufferPointer(start: line.start, count: line.length).assumingMemoryBound(to: UInt8.self)
        return relevant.contains { bytes.position(of: $0) != nil } || bareMessage(bytes) != nil
    }

    private static let relevant = marks + signs
}
