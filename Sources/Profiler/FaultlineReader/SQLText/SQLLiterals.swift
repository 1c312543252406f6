/// Removes the values from the SQL of other programs.
///
/// The values that a program compares columns with are private, and a log contains those that were not bound:
/// `WHERE t0.ZNAME = 'Ada' AND t0.ZAGE > 42` is kept as `WHERE t0.ZNAME = ? AND t0.ZAGE > ?`.
enum SQLLiterals {
    /// Returns a statement without its strings, numbers, blobs and comments.
    ///
    /// Numbers that are not the program's data are kept: those after LIMIT, OFFSET and SELECT, and the options of Core
    /// Data's text search.
    static func removed(from sql: String) -> String {
        guard sql.utf8.contains(where: canBeginLiteral) else { return sql }
        var removal = Removal(bytes: Array(sql.utf8))
        return removal.text()
    }

    /// Whether a byte can begin a literal or a comment.
    private static func canBeginLiteral(_ byte: UInt8) -> Bool {
        byte.isDigit || "'-/$".utf8.contains(byte)
    }

    private struct Removal {
        let bytes: [UInt8]
        var kept: [UInt8] = []
        /// The last word in capitals, if only white space and comments follow it.
        var word = ""
        /// The depth of the parentheses, and the depth at which those of a text search begin.
        var depth = 0
        var search: Int?

        init(bytes: [UInt8]) {
            self.bytes = bytes
        }

        mutating func text() -> String {
            var lexer = SQLLexer()
            var end = 0
            while let token = lexer.next(in: bytes, isWhole: true) {
                // White space between tokens is kept.
                kept += bytes[end..<token.range.lowerBound]
                end = token.range.upperBound
                take(token)
            }
            kept += bytes[end...]
            return String(decoding: kept, as: UTF8.self)
        }

        private mutating func take(_ token: SQLLexer.Token) {
            let isKept =
                switch token.kind {
                case .number: ["LIMIT", "OFFSET", "SELECT"].contains(word) || search != nil
                case .name, .word, .mark: true
                case .text, .comment: false
                }
            if isKept {
                kept += bytes[token.range]
            } else {
                kept.append(token.kind == .comment ? 0x20 : UInt8(ascii: "?"))
            }
            if token.kind == .mark { count(bytes[token.range.lowerBound]) }
            // "LIMIT 10, 20" and "LIMIT 10 OFFSET 20".
            if token.kind == .word {
                word = String(decoding: bytes[token.range], as: UTF8.self).uppercased()
            } else if token.kind != .comment {
                word = ""
            }
        }

        /// Counts the parentheses.
        private mutating func count(_ mark: UInt8) {
            if mark == UInt8(ascii: "(") {
                depth += 1
                if word == "NSCOREDATASTRINGSEARCH", search == nil { search = depth }
            }
            if mark == UInt8(ascii: ")") {
                if search == depth { search = nil }
                depth -= 1
            }
        }
    }
}
