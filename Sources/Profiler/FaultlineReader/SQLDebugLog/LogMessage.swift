/// A message of a log that may continue on the next lines.
///
/// A statement can be printed over several lines, and a bound value can contain line feeds.
struct LogMessage {
    /// The maximum number of lines of one message.
    static let maximumLines = 1000
    /// The maximum number of lines of a message about an error.
    private static let maximumLinesOfError = 40

    /// SQL words that can begin a line, and that no line of another kind begins with.
    private static let words: Set<Substring> = [
        "FROM", "WHERE", "AND", "OR", "ORDER", "GROUP", "HAVING", "LIMIT", "OFFSET", "JOIN", "LEFT", "INNER", "OUTER",
        "CROSS", "ON", "SET", "VALUES", "UNION", "RETURNING", "DO",
    ]

    /// The number of the first line.
    let number: Int
    private let first: SQLDebugLine
    /// The text so far if it has several lines.
    private var text = ""
    private var lines = 1
    /// The part of the text, in bytes, whose parentheses are counted in `depth`, or that has no end of an annotation.
    private var examined = 0
    private var depth = 0

    init(_ line: SQLDebugLine, number: Int) {
        (first, self.number) = (line, number)
    }

    /// The message with all its lines; nothing can be added to it then.
    consuming func whole() -> SQLDebugLine {
        if lines > 1 { first.text = text[...] }
        first.number = number
        return first
    }

    /// Adds a line without a mark if it continues the message, and returns whether it does.
    ///
    /// - Complexity: O(*n*) in the new line.
    mutating func take(_ next: Substring) -> Bool {
        guard lines < Self.maximumLines, continues(with: next) else { return false }
        if lines == 1 { text = String(first.text) }
        text += first.category == .sql ? " " : "\n"
        text += next.withoutLeading { $0 == 0x20 || $0 == 0x09 }
        lines += 1
        return true
    }

    private mutating func continues(with next: Substring) -> Bool {
        let text = lines == 1 ? first.text : self.text[...]
        defer { examined = text.utf8.count }
        switch first.category {
        case .sql:
            for byte in text.utf8.dropFirst(examined) {
                depth += byte == UInt8(ascii: "(") ? 1 : byte == UInt8(ascii: ")") ? -1 : 0
            }
            return continues(sql: text, with: next)
        case .details:
            guard first.text.begins(with: "SQLite bind["), let value = first.text.behindFirst("] = \"") else {
                return false
            }
            // A string ends with its closing quotation mark.
            return (lines == 1 ? value : text).utf8.last != UInt8(ascii: "\"")
        case .annotation:
            let mark: StaticString = "' returned "
            let rest = text[text.index(afterBytes: max(0, examined - mark.utf8CodeUnitCount))...]
            return first.text.begins(with: "fetch using ") && first.text.has("with sql text '") && !rest.has(mark)
        case .other:
            // The options of a store that could not be opened, and the error.
            return lines < Self.maximumLinesOfError && first.text.begins(with: "-addPersistentStoreWithType:")
                && !text.has("Code=")
        }
    }

    private func continues(sql: Substring, with next: Substring) -> Bool {
        let next = next.withoutLeading { $0 == 0x20 || $0 == 0x09 }
        guard let first = next.first else { return false }
        if Self.words.contains(next.before(" ")) { return true }
        guard "(),?_".contains(first) || first.isLetter || first.isNumber else { return false }
        guard let end = sql.utf8.lastIndex(where: { $0 != 0x20 }) else { return depth > 0 }
        if depth > 0 || sql.utf8[end] == UInt8(ascii: ",") { return true }
        let space = sql.utf8[..<end].lastIndex(of: 0x20)
        let last = sql[(space.map(sql.utf8.index(after:)) ?? sql.startIndex)...end].uppercased()
        return Self.words.contains(last[...]) || ["SELECT", "BY", "="].contains(last)
    }
}
