import FaultlineTrace

/// The output of SQLAlchemy's logger `sqlalchemy.engine`, as `create_engine(…, echo=True)` prints it, or a formatter of
/// Python's `logging`.
///
///     2026-11-30 02:44:11,513 INFO sqlalchemy.engine.Engine SELECT album.id, album.title
///     FROM album
///     2026-11-30 02:44:11,513 INFO sqlalchemy.engine.Engine [cached since 0.0014s ago] (4,)
///     2026-11-30 02:44:11,514 DEBUG sqlalchemy.engine.Engine Row (4, 'Blue')
///
/// The times in brackets are those of SQLAlchemy's cache and not of the statement, whose duration the log lacks.
struct SQLAlchemyLog: StatementLog {
    static let name = "sqlAlchemy"
    static let source = ProcessBegan.Source.sqlAlchemy
    static let foreignFiles: String? = "the log of SQLAlchemy (echo=True)"

    /// The maximum number of bytes of a statement.
    private static let maximumLength = 1 << 20

    /// A statement whose parameters have not come.
    private struct Open {
        var text: [UInt8]
        var prefix: PythonPrefix
    }

    private var open: Open?
    /// A complete statement, whose rows may follow.
    private var done: LoggedStatement?
    private var whole: [LoggedStatement] = []

    mutating func take(_ line: UnsafeRawBufferPointer, number: Int) {
        let bytes = line.assumingMemoryBound(to: UInt8.self)
        guard let (prefix, text) = Self.message(bytes) else {
            // A statement is logged as it is written, over several lines.
            if let length = open?.text.count, length + line.count < Self.maximumLength {
                open?.text.append(0x0A)
                open?.text += line
            }
            return
        }
        let message = UnsafeBufferPointer(rebasing: bytes[text...])
        if message.hasBytes("Col (", at: 0) || message.hasBytes("Row (", at: 0) {
            let rows = done?.rows ?? 0
            done?.rows = rows + (message.hasBytes("Row", at: 0) ? 1 : 0)
        } else if let values = Self.values(message, follow: open != nil) {
            complete(values: message[values...])
        } else {
            complete(values: [])
            begin(message, PythonPrefix(UnsafeRawBufferPointer(rebasing: line[..<prefix])))
        }
    }

    mutating func finish() -> Bool {
        let isOpen = open != nil
        complete(values: [])
        flush()
        return isOpen
    }

    mutating func takeStatements() -> [LoggedStatement] { whole.takeAll() }

    static func gaps(of contents: LogContents) -> [TraceGap] {
        var gaps: [TraceGap] = [
            .init(.operations), .init(.callSites), .init(.threads), .init(.counters), .init(.waits), .init(.plans),
            .init(.exactTimes), .init(.durations),
        ]
        if !contents.hasRows { gaps.append(.init(.rows, remedy: "echo=\"debug\"")) }
        if !contents.hasExactTimes { gaps.append(.init(.startTimes, remedy: "%(asctime)s in the format")) }
        return gaps
    }

    static func mayBe(_ head: UnsafeBufferPointer<UInt8>) -> Bool { head.position(of: logger) != nil }

    // MARK: - Records

    private mutating func begin(_ message: UnsafeBufferPointer<UInt8>, _ prefix: PythonPrefix) {
        // Transactions have no parameters: "BEGIN (implicit)", "COMMIT", "ROLLBACK using DBAPI connection.rollback(), …".
        let word = message.word(from: 0), next = message.word(from: word.upperBound)
        let isAlone = next.isEmpty || message[next.lowerBound] == UInt8(ascii: "(") || message.isWord("using", in: next)
        if isAlone, ["BEGIN", "COMMIT", "ROLLBACK"].contains(where: { message[word].elementsEqual($0.utf8) }) {
            open = Open(text: Array(message[word]), prefix: prefix)
            return complete(values: [])
        }
        // A statement can begin with a line feed or a comment. Other messages of the logger are no statements.
        let first = message.end(of: { $0.isSpace || $0 == UInt8(ascii: "(") }, from: 0)
        let verb = message[first...].prefix { SQLLexer.continuesWord($0) }
        let begins =
            first == message.count || SQLVerb.isVerb(verb) || message.hasBytes("--", at: first)
            || message.hasBytes("/*", at: first)
        open = begins ? Open(text: Array(message), prefix: prefix) : nil
    }

    /// Ends the open statement.
    ///
    /// - Parameter values: The parameters as Python prints them; empty if the log lacks them.
    private mutating func complete(values: some Collection<UInt8>) {
        flush()
        guard let open else { return }
        self.open = nil
        let statement = NormalizedStatement(open.text)
        guard !statement.isEmpty else { return }
        let text = String(decoding: values, as: UTF8.self)
        // Long lists and texts are cut, so that different ones look equal.
        let isWhole = !text.isEmpty && !text.contains(" truncated) ") && !text.contains(" displaying ")
        done = LoggedStatement(
            sql: statement.sql, type: statement.type,
            values: isWhole && !text.hasPrefix("[SQL parameters hidden")
                ? StableHash.text(text) : 0,
            time: open.prefix.time, isTimeOfEnd: false, process: max(1, open.prefix.process),
            thread: open.prefix.thread)
    }

    private mutating func flush() {
        if let done { whole.append(done) }
        done = nil
    }

    // MARK: - Lines

    private static let logger: StaticString = "sqlalchemy.engine"
    /// The maximum length of a prefix in bytes.
    private static let maximumPrefix = 512

    /// Finds the logger's name in a line; returns the end of the prefix, and the beginning of the message.
    private static func message(_ line: UnsafeBufferPointer<UInt8>) -> (prefix: Int, text: Int)? {
        guard let name = line.position(of: logger), name <= maximumPrefix else { return nil }
        let end = line.end(of: { SQLLexer.continuesWord($0) || $0 == UInt8(ascii: ".") }, from: name)
        var text = line.end(of: { " :]|>)".utf8.contains($0) }, from: end)
        if line.hasBytes("- ", at: text) { text += 2 }
        return (name, text)
    }

    /// The beginnings of a line with parameters.
    private static let marks: [StaticString] = [
        "[raw sql] ", "[generated in ", "[cached since ", "[no key ", "[caching disabled ", "[insertmanyvalues ",
        "[dialect ",
    ]

    /// The offset of a statement's parameters in a message, if it has them.
    ///
    /// - Parameter isOpen: Whether a statement precedes; before version 1.4, nothing marked its parameters.
    private static func values(_ message: UnsafeBufferPointer<UInt8>, follow isOpen: Bool) -> Int? {
        if marks.contains(where: { message.hasBytes($0, at: 0) }) {
            return message.position(behind: "] ") ?? message.count
        }
        guard isOpen, let first = message.first, "({[".utf8.contains(first) else { return nil }
        return 0
    }
}
