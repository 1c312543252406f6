import FaultlineTrace

/// The statements that a program prints in `db.trace { print("SQL> \($0)") }` of GRDB, with or without that word, and
/// with their durations if it traces profiles.
///
///     SQL> BEGIN DEFERRED TRANSACTION
///     SQL> SELECT * FROM player WHERE teamId = ?
///     0.002s SELECT * FROM player WHERE teamId = ?
struct GRDBLog: StatementLog {
    static let name = "grdb"
    static let source = ProcessBegan.Source.grdb
    static let foreignFiles: String? = "the trace of GRDB (db.trace)"
    static let system: String? = nil

    private var open: (text: OpenStatement, logged: LoggedStatement)?
    private var whole: [LoggedStatement] = []

    mutating func take(_ line: UnsafeRawBufferPointer, number: Int) {
        let bytes = line.assumingMemoryBound(to: UInt8.self)
        if let mark = Mark(bytes) {
            complete()
            let prefix = UnsafeRawBufferPointer(rebasing: line[..<mark.prefix])
            let logged = LoggedStatement(
                sql: "", type: .read, duration: mark.duration, time: LogTime(in: prefix),
                isTimeOfEnd: mark.duration != nil)
            open = (OpenStatement(bytes[mark.text...]), logged)
        } else if open?.text.take(line) != true {
            complete()
        }
    }

    mutating func finish() -> Bool {
        complete()
        return false
    }

    mutating func takeStatements() -> [LoggedStatement] { whole.takeAll() }

    static func gaps(of contents: LogContents) -> [TraceGap] {
        var gaps: [TraceGap] = [
            .init(.operations), .init(.rows), .init(.callSites), .init(.threads), .init(.counters), .init(.waits),
            .init(.plans), .init(.exactTimes),
        ]
        gaps.append(
            contents.hasDurations
                ? .init(.shortDurations) : .init(.durations, remedy: "db.trace(options: .profile)"))
        if !contents.hasValues { gaps.append(.init(.values, remedy: "publicStatementArguments = true")) }
        if !contents.hasExactTimes { gaps.append(.init(.startTimes)) }
        return gaps
    }

    /// What only GRDB prints: its transactions, its mark, and its durations.
    static func mayBe(_ head: UnsafeBufferPointer<UInt8>) -> Bool {
        let signs: [StaticString] = [
            "SQL> ", "SQL: ", "SQL > ", "BEGIN DEFERRED TRANSACTION", "BEGIN IMMEDIATE TRANSACTION",
            "PRAGMA query_only", "s SELECT ", "s INSERT ", "s UPDATE ", "s DELETE ",
        ]
        return signs.contains { head.position(of: $0) != nil }
    }

    private mutating func complete() {
        guard let (text, begun) = open else { return }
        open = nil
        var logged = begun
        let statement = NormalizedStatement(text.bytes)
        guard !statement.isEmpty else { return }
        (logged.sql, logged.type) = (statement.sql, statement.type)
        // A statement with its values has no parameters.
        if !text.bytes.contains(UInt8(ascii: "?")), !text.bytes.contains(UInt8(ascii: ":")) {
            logged.values = StableHash.text(text.text)
        }
        whole.append(logged)
    }

    // MARK: - Lines

    /// The beginning of a statement.
    private struct Mark {
        /// The end of what precedes the program's mark.
        var prefix: Int
        /// In nanoseconds; `nil` if it is not printed.
        var duration: UInt64?
        /// The offset of the statement.
        var text: Int

        private static let maximumPrefix = 256

        init?(_ line: UnsafeBufferPointer<UInt8>) {
            let marks: [StaticString] = ["SQL> ", "SQL: ", "SQL > "]
            let head = UnsafeBufferPointer(rebasing: line.prefix(Self.maximumPrefix))
            let mark = marks.lazy.compactMap { mark in
                head.position(of: mark).map { (start: $0, end: $0 + mark.utf8CodeUnitCount) }
            }.first
            (prefix, text) = (mark?.start ?? 0, mark?.end ?? 0)
            if let seconds = line.decimal(at: text), line.hasBytes("s ", at: seconds.end), seconds.value < 1e6 {
                duration = UInt64((seconds.value * 1e9).rounded())
                text = seconds.end + 2
            }
            let word = line[text...].prefix { SQLLexer.continuesWord($0) }
            // Without a mark, only capitals distinguish a statement from other output.
            let isPlain = mark == nil && duration == nil
            guard SQLVerb.isVerb(word), !isPlain || word.allSatisfy({ $0 < 0x61 }) else { return nil }
        }
    }
}
