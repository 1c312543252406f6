/// A statement of a log that may continue on the next line.
///
/// Nothing marks those lines. They end an open string or parenthesis, or begin as lines of SQL do.
struct OpenStatement {
    /// The maximum number of bytes, and of lines.
    private static let maximumLength = 1 << 20, maximumLines = 1000

    /// SQL words that begin a line of a statement, and hardly any other output.
    private static let words: Set<String> = [
        "FROM", "WHERE", "AND", "OR", "ORDER", "GROUP", "HAVING", "LIMIT", "OFFSET", "JOIN", "LEFT", "INNER", "OUTER",
        "CROSS", "ON", "SET", "VALUES", "UNION", "RETURNING", "SELECT", "DO", "AS", "CASE", "WHEN", "ELSE", "END",
    ]

    private(set) var bytes: [UInt8] = []
    private var lines = 0
    private var lexer = SQLLexer()
    private var depth = 0
    /// Whether the last token is one that something must follow, such as a comma.
    private var isOpen = false

    /// Begins with the rest of a line.
    init(_ text: some Sequence<UInt8>) { add(text) }

    /// The text as a string, which a hash of its values is made of.
    var text: String { String(decoding: bytes, as: UTF8.self) }

    /// Adds a line if it continues the statement.
    ///
    /// - Returns: Whether it does.
    mutating func take(_ line: UnsafeRawBufferPointer) -> Bool {
        guard lines < Self.maximumLines, bytes.count + line.count < Self.maximumLength, continues(with: line) else {
            return false
        }
        bytes.append(0x0A)
        add(line)
        return true
    }

    private func continues(with line: UnsafeRawBufferPointer) -> Bool {
        if lexer.isInText { return true }
        let rest = line.drop(while: \.isSpace)
        guard let first = rest.first else { return depth > 0 }
        if depth > 0 || isOpen { return true }
        let word = rest.prefix { SQLLexer.continuesWord($0) }
        return first == UInt8(ascii: "(")
            || word.count <= 9 && Self.words.contains(String(decoding: word, as: UTF8.self))
    }

    private mutating func add(_ text: some Sequence<UInt8>) {
        bytes += text
        lines += 1
        while let token = lexer.next(in: bytes, isWhole: false) {
            let byte = bytes[token.range.lowerBound]
            if token.kind == .mark { depth += byte == UInt8(ascii: "(") ? 1 : byte == UInt8(ascii: ")") ? -1 : 0 }
            isOpen = token.kind == .mark && ",=".utf8.contains(byte)
        }
    }
}
