/// Decides whether a message of a log continues on the next line.
///
/// A statement can be printed over several lines, and a bound value can contain line feeds.
enum LogContinuation {
    /// The maximum number of lines of one message.
    static let maximumLines = 1000

    /// SQL words that can begin a line, and that no line of another kind begins with.
    private static let words: Set<Substring> = [
        "FROM", "WHERE", "AND", "OR", "ORDER", "GROUP", "HAVING", "LIMIT", "OFFSET", "JOIN", "LEFT", "INNER", "OUTER",
        "CROSS", "ON", "SET", "VALUES", "UNION", "RETURNING", "DO",
    ]

    /// Whether a line without a mark continues the line before it.
    static func continues(_ line: SQLDebugLine, _ text: Substring) -> Bool {
        switch line.category {
        case "sql": return continues(sql: line.text, text)
        case "details":
            guard line.text.hasPrefix("SQLite bind["), let value = line.text.firstRange(of: "] = \"") else {
                return false
            }
            // A string ends with its closing quotation mark.
            let rest = line.text[value.upperBound...]
            return rest.last != "\""
        case "annotation":
            return line.text.hasPrefix("fetch using ") && line.text.contains("with sql text '")
                && !line.text.contains("' returned ")
        default: return false
        }
    }

    private static func continues(sql: Substring, _ text: Substring) -> Bool {
        let next = text.drop { $0 == " " || $0 == "\t" }
        guard let first = next.split(separator: " ", maxSplits: 1).first else { return false }
        if words.contains(first) { return true }
        guard next.first.map({ "(),?".contains($0) || $0.isLetter || $0.isNumber || $0 == "_" }) == true else {
            return false
        }
        var depth = 0
        for byte in sql.utf8 { depth += byte == UInt8(ascii: "(") ? 1 : byte == UInt8(ascii: ")") ? -1 : 0 }
        let end = sql.reversed().first { $0 != " " }
        if depth > 0 || end == "," { return true }
        let last = sql.split(separator: " ").last?.uppercased() ?? ""
        return words.contains(last[...]) || last == "SELECT" || last == "BY" || last == "="
    }
}
