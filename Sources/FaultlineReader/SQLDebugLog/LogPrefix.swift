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
        var rest = text.drop { $0 == " " || $0 == "\t" }
        // The priority and version of RFC 5424: <14>1.
        if rest.first == "<", let close = rest.firstIndex(of: ">"), rest.dropFirst().first?.isNumber == true {
            rest = rest[rest.index(after: close)...]
            if rest.hasPrefix("1 ") { rest = rest.dropFirst(2) }
        }
        // Test servers put a time of their own before the program's.
        while let (time, behind) = Self.time(rest) {
            self.time = time
            rest = behind.drop { $0 == " " || $0 == "\t" }
        }
        if rest.hasPrefix("0x") { readColumns(rest) } else { readBracket(rest) }
    }

    /// Reads `0x1f2e Debug 0x0 4711 0 My App: (CoreData)`.
    private mutating func readColumns(_ text: Substring) {
        let words = text.split(separator: " ", maxSplits: 5)
        guard words.count == 6, let process = UInt32(words[3]) else { return }
        writer = SQLDebugLine.Writer(process: process, thread: words[0].dropFirst(2))
        program = words[5].drop { $0 == " " }.prefix { $0 != ":" }
    }

    /// Reads `My App[65858:2586192]`, and `host App[4711]` without a thread.
    private mutating func readBracket(_ text: Substring) {
        var position = text.startIndex
        while let open = text[position...].firstIndex(of: "["), let close = text[open...].firstIndex(of: "]") {
            let ids = text[text.index(after: open)..<close].split(separator: ":", omittingEmptySubsequences: false)
            guard (1...2).contains(ids.count), let process = UInt32(ids[0]),
                ids.dropFirst().allSatisfy({ !$0.isEmpty && $0.allSatisfy(\.isHexDigit) })
            else {
                position = text.index(after: close)
                continue
            }
            writer = SQLDebugLine.Writer(process: process, thread: ids.count == 2 ? ids[1] : "")
            program = Self.name(text[..<open], hasHost: ids.count == 1)
            return
        }
    }

    /// The program's name without the message type and host before it, and the library after it.
    private static func name(_ text: Substring, hasHost: Bool) -> Substring {
        var name = text
        let kinds: Set<Substring> = ["Df", "Db", "In", "Er", "Ft", "I", "E", "F", "A", "D"]
        let first = name.prefix { $0 != " " }
        if first.count < name.count, hasHost || kinds.contains(first) {
            name = name[first.endIndex...].drop { $0 == " " }
        }
        if name.hasSuffix(")"), let open = name.lastIndex(of: "(") { name = name[..<open] }
        while name.last == " " { name.removeLast() }
        return name
    }

    // MARK: Time

    /// Parses a date and a time of day; returns them with the remaining text, or `nil` if the text begins otherwise.
    private static func time(_ text: Substring) -> (UInt64, Substring)? {
        let words = text.split(separator: " ", maxSplits: 3)
        if let month = words.first.flatMap({ LogTime.month($0.utf8) }), words.count > 2, let day = UInt64(words[1]),
            // The year 2000 is a leap year, so a date without a year can be 29 February.
            let days = LogTime.days(2000, month, day), let time = timeOfDay(words[2])
        {
            return (days * LogTime.day + time, text[words[2].endIndex...])
        }
        guard let first = words.first else { return nil }
        let parts = first.split(separator: "T", maxSplits: 1)
        guard let day = day(parts[0]) else { return nil }
        guard
            let (word, time) = [parts.dropFirst().first, words.dropFirst().first].lazy.compactMap({ word in
                word.flatMap { word in timeOfDay(word).map { (word, $0) } }
            }).first
        else { return nil }
        return (day * LogTime.day + time, text[word.endIndex...])
    }

    /// Parses `2014-07-30` into days since the beginning of 2000.
    private static func day(_ word: Substring) -> UInt64? {
        let parts = word.split(separator: "-").compactMap { UInt64($0) }
        guard parts.count == 3 else { return nil }
        return LogTime.days(parts[0], parts[1], parts[2])
    }

    /// Parses `11:45:15.647`, with or without a time zone.
    private static func timeOfDay(_ word: Substring) -> UInt64? {
        let parts = word.prefix { $0.isNumber || $0 == ":" || $0 == "." }.split(separator: ":")
        guard parts.count == 3, let hours = UInt64(parts[0]), let minutes = UInt64(parts[1]),
            let seconds = Double(parts[2]), hours < 24, minutes < 60, (0..<61).contains(seconds)
        else { return nil }
        return (hours * 3600 + minutes * 60) * 1_000_000_000 + UInt64(seconds * 1e9)
    }
}
