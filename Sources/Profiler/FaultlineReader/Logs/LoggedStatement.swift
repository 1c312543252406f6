import FaultlineTrace

/// A statement that a program's log tells of.
struct LoggedStatement {
    /// The text without values.
    var sql: String
    var type: TraceEvent.Statement.StatementType
    /// In nanoseconds; `nil` if the log does not have it.
    var duration: UInt64?
    /// The rows that it returned; `nil` if the log does not have their number.
    var rows: UInt64?
    /// A hash of the values; 0 if the log does not have them.
    var values: UInt64 = 0
    /// The time of its line; `nil` if the log has none.
    var time: LogTime?
    /// Whether the line was written when the statement had ended, as opposed to before it ran.
    var isTimeOfEnd = true
    var process: UInt32 = 1
    var thread: UInt32 = 0
    /// The line of the program that ran it; `nil` if the log does not name it.
    var site: CallSite?
    /// The request that it ran for; `nil` if the log does not show requests.
    var request: LoggedRequest?
}

extension [LoggedStatement] {
    /// Removes and returns all statements.
    mutating func takeAll() -> [LoggedStatement] {
        if isEmpty { return [] }
        defer { self = [] }
        return self
    }
}

/// A request that a log tells of.
struct LoggedRequest: Equatable {
    /// The number of the request in the log.
    var number: Int
    var name: String
}

/// The data in a log that not every log of its format has.
struct LogContents {
    /// Whether the first statement has a time with a fraction of a second.
    var hasExactTimes = false
    var hasDurations = false, hasRows = false, hasValues = false, hasSites = false

    init(first: LoggedStatement) { hasExactTimes = first.time?.isExact == true }

    mutating func add(_ statement: LoggedStatement) {
        hasDurations = hasDurations || statement.duration != nil
        hasRows = hasRows || statement.rows != nil
        // Without parameters or literals, a statement has no values that the log could lack.
        let isOfRows = statement.type == .read || statement.type == .write
        hasValues = hasValues || statement.values != 0 && isOfRows && statement.sql.contains("?")
        hasSites = hasSites || statement.site != nil
    }
}

/// A format of logs whose records are statements.
///
/// Records can span lines, and other output can come between them.
protocol StatementLog {
    static var name: String { get }
    static var source: ProcessBegan.Source { get }
    static var foreignFiles: String? { get }
    /// The name of the database system, as OpenTelemetry has it; `nil` for SQLite.
    ///
    /// The default is that of an unknown system, because few logs say which database it is.
    static var system: String? { get }
    /// The language of the program, as the module of its functions; empty if the log does not name lines.
    static var language: String { get }

    init()

    /// Reads a line without its line feed and without colours.
    mutating func take(_ line: UnsafeRawBufferPointer, number: Int)

    /// Skips a line that is too long to read.
    mutating func skipLongLine(number: Int)

    /// Ends the log.
    ///
    /// - Returns: Whether it ends within a record.
    mutating func finish() -> Bool

    /// Removes and returns the statements that are complete, in the order of the log.
    mutating func takeStatements() -> [LoggedStatement]

    /// Removes and returns the lines that could not be read.
    mutating func takeProblems() -> [LogProblem]

    /// The data that a log lacks.
    static func gaps(of contents: LogContents) -> [TraceGap]

    /// Whether a beginning of a file can have records; others are not examined further.
    static func mayBe(_ head: UnsafeBufferPointer<UInt8>) -> Bool
}

/// A line of a log that could not be read.
enum LogProblem {
    /// A record that breaks off.
    case broken(line: Int)
    /// A record with a statement that begins with an unknown word.
    case unknown(line: Int, word: String)
}

extension StatementLog {
    static var system: String? { "other_sql" }
    static var language: String { "" }
    mutating func skipLongLine(number: Int) {}
    mutating func takeProblems() -> [LogProblem] { [] }
}
