import Foundation

/// The lines of a log, in whatever form a tool printed it: plain, coloured, or with an object of JSON for each message.
///
/// A message of several lines gives its first one, and the others as lines without a mark.
final class LogLines {
    enum Line {
        case coreData(SQLDebugLine, number: Int)
        /// One that has no mark of Core Data's.
        case other(Substring, number: Int)
        case malformed(number: Int)
    }

    private let lines: LineReader
    /// Whether messages are objects of JSON.
    private let hasObjects: Bool
    private var object = LogObject()
    private var waiting: [Line] = []
    /// Lines that were read so far.
    private(set) var count = 0

    init(path: String, hasObjects: Bool) throws(ReaderError) {
        lines = try LineReader(path: path)
        self.hasObjects = hasObjects
    }

    /// The next line; `nil` behind the last.
    ///
    /// - Parameter all: Whether to give lines without a mark that do not look like Core Data's as well.
    func next(all: Bool) throws(ReaderError) -> Line? {
        while true {
            if !waiting.isEmpty { return waiting.removeFirst() }
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
            // Without carriage returns, which make one character with a line feed.
            let parts = Self.plain(message.text.filter { $0 != "\r" }.replacing("\r\n", with: "\n"))
                .split(separator: "\n", omittingEmptySubsequences: false)
            guard var line = SQLDebugLine(message: parts.first ?? "", category: message.category) else { continue }
            (line.writer, line.program, line.time) = (message.writer, message.program, message.time)
            waiting.append(.coreData(line, number: bytes.number))
            waiting += parts.dropFirst().map { .other($0, number: bytes.number) }
        }
    }

    private static func text(_ bytes: LineReader.Line, isColoured: Bool) -> String {
        var length = bytes.length
        while length > 0, bytes.start[length - 1] == 0x0D { length -= 1 }
        let text = String(decoding: UnsafeRawBufferPointer(start: bytes.start, count: length), as: UTF8.self)
        return isColoured ? plain(text) : text
    }

    /// A text without the sequences that colour it in a terminal.
    static func plain(_ text: String) -> String {
        guard text.utf8.contains(0x1B) else { return text }
        var plain: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == 0x1B else {
                plain.append(byte)
                continue
            }
            guard rest.first == UInt8(ascii: "[") else {
                rest = rest.dropFirst()
                continue
            }
            rest = rest.dropFirst().drop { (0x20...0x3F).contains($0) }.dropFirst()
        }
        return String(decoding: plain, as: UTF8.self)
    }
}

extension SQLDebugLine {
    /// What lines of Core Data's have whose mark somebody took off.
    private static let signs = [
        "annotation: sql ", "annotation: total ", "annotation: fault ", "annotation: to-many ",
        "fetch execution time: ",
    ]

    /// Whether a line without a mark looks like one of Core Data's.
    static func isLookAlike(_ text: Substring) -> Bool { signs.contains { text.contains($0) } }

    /// Whether a line has a mark of Core Data's, or looks as if it had had one.
    static func isRelevant(_ line: LineReader.Line) -> Bool {
        relevant.contains { sign in
            var place = 0
            while let found = memchr(line.start + place, Int32(sign[0]), line.length - place) {
                place = UnsafeRawPointer(line.start).distance(to: found)
                guard place + sign.count <= line.length else { return false }
                if memcmp(found, sign, sign.count) == 0 { return true }
                place += 1
            }
            return false
        }
    }

    private static let relevant = (marks + signs).map { Array($0.utf8) }
}
