/// The text before a message in a log line: the time, the program, its process and thread.
///
///     2014-07-30 11:45:15.647 My App[65858:2586192]
///     2022-11-05 10:12:31.123 Db App[4711:1f2e]
///     2022-11-05 10:12:31.123456+0100 0x1f2e     Debug       0x0                  4711   0    My App: (CoreData)
///     2022-11-05 10:12:31.123456+0100  localhost App[4711]: (CoreData)
///     Nov  5 10:12:31 iPhone App(CoreData)[4711] <Debug>:
struct LogPrefix {
    var writer = SQLDebugLine.Writer()
    var program: Substring = ""
    /// The time in nanoseconds since the beginning of 2000, or of its own year if it names none.
    var time: UInt64?

    init(_ text: Substring) {
        text.withBytes { bytes in
            var position = bytes.end(of: isBlank, from: 0)
            // The priority and version of RFC 5424: <14>1.
            if bytes.hasBytes("<", at: position), let close = bytes.number(at: position + 1)?.end,
                bytes.hasBytes(">", at: close)
            {
                position = close + (bytes.hasBytes("1 ", at: close + 1) ? 3 : 1)
            }
            // Test servers put a time of their own before the program's.
            while let (time, end) = bytes.time(at: position) {
                self.time = time
                position = bytes.end(of: isBlank, from: end)
            }
            if bytes.hasBytes("0x", at: position) {
                readColumns(text, bytes, from: position)
            } else {
                readBracket(text, bytes, from: position)
            }
        }
    }

    /// Reads `0x1f2e Debug 0x0 4711 0 My App: (CoreData)`.
    private mutating func readColumns(_ text: Substring, _ bytes: UnsafeBufferPointer<UInt8>, from start: Int) {
        let thread = bytes.word(from: start)
        let number = (0..<2).reduce(thread) { word, _ in bytes.word(from: word.upperBound) }
        let owner = bytes.word(from: number.upperBound)
        let name = bytes.end(of: isSpace, from: bytes.word(from: owner.upperBound).upperBound)
        guard name < bytes.count, let process = bytes.process(in: owner) else { return }
        writer = SQLDebugLine.Writer(process: process, thread: text[bytes: thread.dropFirst(2)])
        program = text[bytes: name..<bytes.end(of: { $0 != UInt8(ascii: ":") }, from: name)]
    }

    /// Reads `My App[65858:2586192]`, and `host App[4711]` without a thread.
    private mutating func readBracket(_ text: Substring, _ bytes: UnsafeBufferPointer<UInt8>, from start: Int) {
        var position = start
        while let open = bytes.position(of: "[", from: position), let close = bytes.position(of: "]", from: open) {
            let colon = bytes[(open + 1)..<close].firstIndex(of: UInt8(ascii: ":"))
            let thread = (colon.map { $0 + 1 } ?? close)..<close
            guard let process = bytes.process(in: (open + 1)..<(colon ?? close)),
                colon == nil || !thread.isEmpty && bytes[thread].allSatisfy(\.isHexDigit)
            else {
                position = close + 1
                continue
            }
            writer = SQLDebugLine.Writer(process: process, thread: text[bytes: thread])
            program = text[bytes: Self.name(bytes, start..<open, hasHost: colon == nil)]
            return
        }
    }

    /// The program's name without the message type and host before it, and the library after it.
    private static func name(_ bytes: UnsafeBufferPointer<UInt8>, _ range: Range<Int>, hasHost: Bool) -> Range<Int> {
        var (start, end) = (range.lowerBound, range.upperBound)
        let first = bytes.end(of: { $0 != 0x20 }, from: start)
        if first < end,
            hasHost || kinds.contains(where: { $0.utf8CodeUnitCount == first - start && bytes.hasBytes($0, at: start) })
        {
            start = min(bytes.end(of: isSpace, from: first), end)
        }
        let name = bytes[start..<end]
        if name.last == UInt8(ascii: ")"), let open = name.lastIndex(of: UInt8(ascii: "(")) { end = open }
        while end > start, bytes[end - 1] == 0x20 { end -= 1 }
        return start..<end
    }

    /// The types of messages.
    private static let kinds: [StaticString] = ["Df", "Db", "In", "Er", "Ft", "I", "E", "F", "A", "D"]
}

private func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 }

private func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

extension UInt8 {
    fileprivate var isHexDigit: Bool { isDigit || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(self | 0x20) }
}

extension UnsafeBufferPointer<UInt8> {
    /// Parses a process's number that takes up a range.
    fileprivate func process(in range: Range<Int>) -> UInt32? {
        number(at: range.lowerBound).flatMap { $0.end == range.upperBound ? UInt32(exactly: $0.value) : nil }
    }

    // MARK: - Time

    /// Parses a date and a time of day; returns them with the end of their last word, or `nil` if there is no date.
    fileprivate func time(at position: Int) -> (UInt64, end: Int)? {
        let first = word(from: position)
        if let month = LogTime.month(self[first]) {
            let (day, word) = (word(from: first.upperBound), word(from: word(from: first.upperBound).upperBound))
            // The year 2000 is a leap year, so a date without a year can be 29 February.
            guard let number = number(at: day.lowerBound), number.end == day.upperBound,
                let days = LogTime.days(2000, month, number.value), let time = timeOfDay(in: word)
            else { return nil }
            return (days * LogTime.day + time, word.upperBound)
        }
        guard let (days, end) = day(at: first.lowerBound), end == first.upperBound || self[end] == UInt8(ascii: "T")
        else { return nil }
        let rest = (end..<first.upperBound).dropFirst()
        if let time = timeOfDay(in: rest) { return (days * LogTime.day + time, rest.upperBound) }
        let next = word(from: first.upperBound)
        return timeOfDay(in: next).map { (days * LogTime.day + $0, next.upperBound) }
    }

    /// Parses `2014-07-30` into days since the beginning of 2000.
    private func day(at start: Int) -> (UInt64, end: Int)? {
        guard let year = number(at: start), hasBytes("-", at: year.end), let month = number(at: year.end + 1),
            hasBytes("-", at: month.end), let day = number(at: month.end + 1)
        else { return nil }
        return LogTime.days(year.value, month.value, day.value).map { ($0, day.end) }
    }

    /// Parses `11:45:15.647`, with or without a time zone.
    private func timeOfDay(in word: Range<Int>) -> UInt64? {
        guard let hours = number(at: word.lowerBound), hasBytes(":", at: hours.end),
            let minutes = number(at: hours.end + 1), hasBytes(":", at: minutes.end),
            let seconds = decimal(at: minutes.end + 1), !hasBytes(":", at: seconds.end),
            hours.value < 24, minutes.value < 60, (0..<61).contains(seconds.value)
        else { return nil }
        return (hours.value * 3600 + minutes.value * 60) * 1_000_000_000 + UInt64(seconds.value * 1e9)
    }
}
