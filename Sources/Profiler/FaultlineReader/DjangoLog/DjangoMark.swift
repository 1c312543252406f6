/// The beginning of a record of the logger `django.db.backends`: the formatter's prefix and the duration.
///
///     (0.001) SELECT …
///     DEBUG 2026-11-24 20:19:17,123 utils 1234 140243 (0.001) SELECT …
///     [24/Nov/2026 20:19:17] (0.001) SELECT …
///     DEBUG:django.db.backends:(0.001) SELECT …
struct DjangoMark {
    /// The duration in nanoseconds; the log has whole milliseconds.
    var duration: UInt64
    /// The offset of the statement in the line.
    var text: Int
    /// Whether an SQL verb follows; otherwise it may come after a line feed or a comment.
    var hasVerb: Bool
    /// The formatter's output before the duration.
    var prefix: PythonPrefix

    /// The maximum length of a prefix in bytes.
    private static let maximumPrefix = 1024

    /// Finds the beginning of a record in a line; returns `nil` if there is none.
    init?(_ line: UnsafeRawBufferPointer) {
        let reach = min(line.count, Self.maximumPrefix)
        var position = 0
        while let found = line[position..<reach].firstIndex(of: UInt8(ascii: "(")) {
            position = found + 1
            guard found == 0 || " \t:]|>-)".utf8.contains(line[found - 1]),
                let (duration, end) = Self.duration(line, from: position), let hasVerb = Self.hasVerb(line, from: end)
            else { continue }
            self.duration = duration
            text = end
            self.hasVerb = hasVerb
            prefix = PythonPrefix(UnsafeRawBufferPointer(rebasing: line[..<found]))
            return
        }
        return nil
    }

    /// Parses `0.001) `.
    private static func duration(_ line: UnsafeRawBufferPointer, from start: Int) -> (UInt64, end: Int)? {
        var position = start
        var value: UInt64 = 0
        while position < line.count, position - start < 7, line[position].isDigit {
            value = value * 10 + UInt64(line[position] - 0x30)
            position += 1
        }
        guard position > start, position + 6 <= line.count, line[position] == UInt8(ascii: "."),
            line[position + 4] == UInt8(ascii: ")"), line[position + 5] == 0x20
        else { return nil }
        for digit in line[position + 1...position + 3] {
            guard digit.isDigit else { return nil }
            value = value * 10 + UInt64(digit - 0x30)
        }
        return (value * 1_000_000, position + 6)
    }

    /// Whether an SQL verb is at an offset; `nil` if no statement can begin there.
    private static func hasVerb(_ line: UnsafeRawBufferPointer, from start: Int) -> Bool? {
        var position = start
        while position < line.count, line[position].isSpace || line[position] == UInt8(ascii: "(") { position += 1 }
        guard position < line.count else { return false }
        let word = line[position...].prefix { SQLLexer.continuesWord($0) }
        if word.isEmpty { return ["--", "/*"].contains { line[position...].starts(with: $0.utf8) } ? false : nil }
        return SQLVerb.isVerb(word) ? true : nil
    }

    /// The first word of a record whose statement is unknown.
    ///
    /// The rest of the line can hold values, so it is never printed.
    static func unknownWord(in line: UnsafeRawBufferPointer) -> String? {
        var position = 0
        while let found = line[position..<min(line.count, maximumPrefix)].firstIndex(of: UInt8(ascii: "(")) {
            position = found + 1
            guard let (_, end) = duration(line, from: position) else { continue }
            guard DjangoArguments.areIn(line, withAlias: true) else { return nil }
            return String(decoding: line[end...].prefix { SQLLexer.continuesWord($0) }.prefix(20), as: UTF8.self)
        }
        return nil
    }
}
