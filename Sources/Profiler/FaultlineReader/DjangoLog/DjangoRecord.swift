/// A record of the logger `django.db.backends`, read line by line: `(0.001) SELECT …; args=(1,); alias=default`.
///
/// A statement can span many lines, and its strings can contain anything, even text that looks like another record. Only
/// the statement without its values is kept.
struct DjangoRecord {
    enum Progress { case open, whole, broken }

    /// The maximum number of places in a comment that are tried as its end.
    private static let maximumTries = 8

    let mark: DjangoMark
    /// The number of its first line.
    let number: Int
    private(set) var statement = NormalizedStatement()
    private var lexer: SQLLexer
    /// Bytes that the lexer has not consumed: an open token.
    private var bytes: [UInt8] = []
    private var hasBegun = false
    /// The arguments; `nil` while the statement continues.
    private var tail: DjangoArguments?

    init(_ mark: DjangoMark, number: Int, isMySQL: Bool) {
        self.mark = mark
        self.number = number
        lexer = SQLLexer(isMySQL: isMySQL)
    }

    /// The process that logged the record; 1 if the prefix has none.
    var process: UInt32 { max(1, mark.prefix.process) }
    /// Whether a word or a string directly follows a string in the last line.
    ///
    /// No SQL looks like this, but a truncated string does once the quotation marks of the next record close it.
    private(set) var isTorn = false
    /// Whether the next line continues a string, and can look like anything.
    var isInText: Bool { tail == nil && lexer.isInText }
    /// Whether its statement has ended.
    var hasStatement: Bool { tail != nil }
    /// Whether the statement uses MySQL's strings.
    var isMySQL: Bool { lexer.isMySQL }

    /// Reads a line; the first one begins with the statement.
    mutating func take(_ line: UnsafeRawBufferPointer) -> Progress {
        if tail != nil { return tail?.take(line[...]) ?? .broken }
        if hasBegun { bytes.append(0x0A) }
        hasBegun = true
        bytes += line
        statement.beginLine()
        var endOfText: Int?
        isTorn = false
        while let token = lexer.next(in: bytes, isWhole: false) {
            let end = token.range.upperBound
            if bytes[token.range.lowerBound] == UInt8(ascii: ";"), bytes[end...].starts(with: DjangoArguments.beginning)
            {
                return endStatement(at: end)
            }
            if token.kind != .mark, token.range.lowerBound == endOfText { isTorn = true }
            endOfText = token.kind == .text ? end : nil
            statement.take(token, in: bytes)
        }
        if lexer.isInText, lexer.position == endOfText { isTorn = true }
        if lexer.isInLineComment, let end = endInComment() { return endStatement(at: end) }
        guard bytes.count - lexer.position <= LineReader.maximumLength else { return .broken }
        let read = lexer.position
        bytes.removeFirst(read)
        lexer.drop(read)
        return .open
    }

    private mutating func endStatement(at position: Int) -> Progress {
        var tail = DjangoArguments()
        let progress = bytes.withUnsafeBytes { tail.take($0[(position + DjangoArguments.beginning.count)...]) }
        self.tail = tail
        bytes = []
        return progress
    }

    /// The end of a statement that ends with a line comment, which would otherwise include the arguments.
    private func endInComment() -> Int? {
        bytes.withUnsafeBytes { bytes in
            var position = lexer.position
            var tries = 0
            while tries < Self.maximumTries, let found = bytes[position...].firstIndex(of: UInt8(ascii: ";")) {
                position = found + 1
                guard bytes[position...].starts(with: DjangoArguments.beginning) else { continue }
                tries += 1
                var tail = DjangoArguments()
                if tail.take(bytes[(position + DjangoArguments.beginning.count)...]) == .whole { return position }
            }
            return nil
        }
    }
}
