/// Splits SQL into tokens, even if only the beginning of the SQL is available.
///
/// It knows the quotes of SQLite, PostgreSQL and MySQL: `'it''s'`, `E'it\'s'`, `$$it's$$`, `"name"`, `` `name` ``, `[name]`.
/// White space is not a token.
struct SQLLexer {
    enum Kind {
        /// A string or a blob.
        case text
        /// A name in quotation marks or brackets.
        case name
        case comment, number, word
        /// Any other character.
        case mark
    }

    struct Token {
        var kind: Kind
        var range: Range<Int>
    }

    /// The end of a token that can span lines.
    private enum Ending {
        case quote(UInt8, escapes: Bool)
        case line
        case comment
        /// The tag of a dollar-quoted string with its dollar signs.
        case tag([UInt8])
    }

    /// The offset of the open token, or where the search for the next token begins.
    private(set) var position = 0
    /// A token whose end has not been found.
    private var open: (kind: Kind, ending: Ending, searched: Int)?
    /// Whether strings follow MySQL's rules: a backslash escapes a quotation mark, and `"` begins a string too.
    ///
    /// The first quoted name decides: MySQL uses backticks.
    private(set) var isMySQL: Bool
    private var hasNames = false

    /// - Parameter isMySQL: Whether strings before the first quoted name follow MySQL's rules.
    init(isMySQL: Bool = false) {
        self.isMySQL = isMySQL
    }

    /// Whether the bytes read so far end within a string.
    var isInText: Bool { open?.kind == .text }
    /// Whether they end within a line comment.
    var isInLineComment: Bool { if case .line = open?.ending { true } else { false } }

    /// Adjusts the offsets after the caller has dropped the first bytes.
    mutating func drop(_ count: Int) {
        position -= count
        open?.searched -= count
    }

    /// Closes the open token and continues at an offset.
    mutating func leave(at position: Int) {
        self.position = position
        open = nil
    }

    /// Returns the next token, or `nil` after the last one and if its end is missing.
    ///
    /// - Parameter isWhole: Whether the bytes are complete: an open token then ends with them.
    mutating func next(in bytes: [UInt8], isWhole: Bool) -> Token? {
        if open == nil {
            while position < bytes.count, bytes[position].isSpace { position += 1 }
            guard position < bytes.count else { return nil }
            if let token = short(in: bytes) {
                position = token.range.upperBound
                return token
            }
        }
        guard let (kind, ending, searched) = open else { return nil }
        let (end, next) = Self.end(of: ending, in: bytes, from: searched)
        guard let end = end ?? (isWhole ? bytes.count : nil) else {
            open?.searched = next
            return nil
        }
        defer { leave(at: end) }
        if kind == .name {
            if !hasNames { isMySQL = bytes[position] == UInt8(ascii: "`") }
            hasNames = true
        }
        return Token(kind: kind, range: position..<end)
    }

    // MARK: - Beginnings

    /// Returns a token that cannot span lines, or opens one that can and returns `nil`.
    private mutating func short(in bytes: [UInt8]) -> Token? {
        let byte = bytes[position]
        let next = position + 1 < bytes.count ? bytes[position + 1] : 0
        switch byte {
        case UInt8(ascii: "'"): begin(.text, .quote(byte, escapes: isMySQL))
        case UInt8(ascii: "\""):
            if isMySQL { begin(.text, .quote(byte, escapes: true)) } else { begin(.name, .quote(byte, escapes: false)) }
        case UInt8(ascii: "`"): begin(.name, .quote(byte, escapes: false))
        case UInt8(ascii: "-") where next == byte: begin(.comment, .line)
        case UInt8(ascii: "#") where isMySQL: begin(.comment, .line)
        case UInt8(ascii: "/") where next == UInt8(ascii: "*"): begin(.comment, .comment, length: 2)
        case UInt8(ascii: "["):
            if let end = endOfBrackets(in: bytes) { return Token(kind: .name, range: position..<end) }
            return Token(kind: .mark, range: position..<position + 1)
        case UInt8(ascii: "$"):
            guard let tag = tag(in: bytes) else { return word(in: bytes) }
            begin(.text, .tag(tag), length: tag.count)
        case _ where byte.isDigit: return number(in: bytes)
        case UInt8(ascii: ".") where next.isDigit && !followsWord(in: bytes): return number(in: bytes)
        case _ where Self.continuesWord(byte): return word(in: bytes)
        default: return Token(kind: .mark, range: position..<position + 1)
        }
        return nil
    }

    private mutating func begin(_ kind: Kind, _ ending: Ending, length: Int = 1) {
        open = (kind, ending, position + length)
    }

    private func followsWord(in bytes: [UInt8]) -> Bool { position > 0 && Self.continuesWord(bytes[position - 1]) }

    /// The end of a name in brackets; `nil` if the brackets contain an index or the elements of an array.
    private func endOfBrackets(in bytes: [UInt8]) -> Int? {
        let follows =
            position > 0
            && (Self.continuesWord(bytes[position - 1]) || [0x22, 0x29, 0x5D].contains(bytes[position - 1]))
        guard !follows, position + 1 < bytes.count, !bytes[position + 1].isDigit,
            Self.continuesWord(bytes[position + 1])
        else {
            return nil
        }
        let end = bytes[(position + 1)...].firstIndex { [0x0A, 0x22, 0x27, 0x2C, 0x5B, 0x5D].contains($0) }
        return end.flatMap { bytes[$0] == 0x5D ? $0 + 1 : nil }
    }

    /// The tag that begins a dollar-quoted string: `$$`, `$body$`.
    private func tag(in bytes: [UInt8]) -> [UInt8]? {
        var end = position + 1
        while end < bytes.count, Self.continuesWord(bytes[end]), bytes[end] != UInt8(ascii: "$") { end += 1 }
        guard end < bytes.count, bytes[end] == UInt8(ascii: "$"), !bytes[position + 1].isDigit else { return nil }
        return Array(bytes[position...end])
    }

    private mutating func word(in bytes: [UInt8]) -> Token? {
        var end = position
        while end < bytes.count, Self.continuesWord(bytes[end]) { end += 1 }
        // X'00ff' in SQLite; E'it\'s', N'…' and B'01' in PostgreSQL.
        if end == position + 1, end < bytes.count, bytes[end] == UInt8(ascii: "'"), !followsWord(in: bytes) {
            let letter = bytes[position] | 0x20
            if "xenb".utf8.contains(letter) {
                begin(.text, .quote(bytes[end], escapes: isMySQL || letter == UInt8(ascii: "e")), length: 2)
                return nil
            }
        }
        return Token(kind: .word, range: position..<end)
    }

    private func number(in bytes: [UInt8]) -> Token {
        let isHexadecimal = position + 1 < bytes.count && bytes[position + 1] | 0x20 == UInt8(ascii: "x")
        var end = position
        while end < bytes.count {
            let byte = bytes[end]
            let isSign = byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-")
            let isExponent = end > position && bytes[end - 1] | 0x20 == UInt8(ascii: "e") && !isHexadecimal
            guard Self.continuesWord(byte) || byte == UInt8(ascii: ".") || isSign && isExponent else { break }
            end += 1
        }
        return Token(kind: .number, range: position..<end)
    }
}

// MARK: - Ends

extension SQLLexer {
    /// Searches for the end of an open token.
    ///
    /// - Returns: The end, or `nil` and the offset at which the search continues when there are more bytes.
    private static func end(of ending: Ending, in bytes: [UInt8], from start: Int) -> (end: Int?, next: Int) {
        switch ending {
        case .line:
            let end = bytes[min(start, bytes.count)...].firstIndex(of: 0x0A)
            return (end, bytes.count)
        case .comment: return end(of: [0x2A, 0x2F], in: bytes, from: start)
        case .tag(let tag): return end(of: tag, in: bytes, from: start)
        case .quote(let quote, let escapes):
            var position = start
            while position < bytes.count {
                let byte = bytes[position]
                if escapes, byte == UInt8(ascii: "\\") {
                    guard position + 1 < bytes.count else { return (nil, position) }
                    position += 2
                    continue
                }
                position += 1
                guard byte == quote else { continue }
                // A doubled quotation mark is part of the text.
                guard position < bytes.count, bytes[position] == quote else { return (position, position) }
                position += 1
            }
            return (nil, position)
        }
    }

    private static func end(of mark: [UInt8], in bytes: [UInt8], from start: Int) -> (end: Int?, next: Int) {
        var position = start
        while position + mark.count <= bytes.count {
            if bytes[position] == mark[0], bytes[position..<position + mark.count].elementsEqual(mark) {
                return (position + mark.count, position)
            }
            position += 1
        }
        return (nil, position)
    }

    /// Whether a byte can continue a word or a number: letters of any script, digits, `_` and `$`.
    static func continuesWord(_ byte: UInt8) -> Bool {
        byte.isDigit || byte >= 0x80 || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "$")
            || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }
}
