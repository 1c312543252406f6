import FaultlineRecorder
import Foundation
public import Logging
import Synchronization

/// Core Data's SQL log: prints each statement that runs.
///
/// Level 1 prints statements with their times, level 2 adds bound values and row counts, level 3 prints rows instead of
/// row counts, and level 4 adds SQLite's plans. Enable it with `-com.apple.CoreData.SQLDebug 1` on the command line,
/// with `FAULTLINE_SQLDEBUG=1` in the environment, or by setting ``level``. Lines go to standard error, or to
/// ``logger`` if it is set:
///
///     CoreData: sql: SELECT 0, t0.Z_PK, t0.Z_OPT, t0.ZNAME FROM ZITEM t0
///     CoreData: annotation: sql connection fetch time: 0.0003s
///     CoreData: annotation: total fetch execution time: 0.0005s for 20 rows.
///
/// Unlike Core Data, it also prints a line with the time of each write, a line for each fault that the row cache serves,
/// and before the statements of a fetch, a count, a save or a batch request a line with its number and its call site:
///
///     CoreData: annotation: fetch 12 at Groceries/List.swift:42 in showList()
///
/// On standard error, each line begins with the time, the program, its process and the thread, as the system's log does on a
/// Mac: `2026-11-30 05:47:03.123 Groceries[4711:1f2e] `. Levels from 2 print values.
///
/// Core Data's log of migrations is a part of it: `-com.apple.CoreData.MigrationDebug 1`, `FAULTLINE_MIGRATIONDEBUG=1` or
/// ``printsMigrations`` prints each part of a migration with its time.
public final class SQLDebugLog: Sendable {
    /// The log of all stores that were not given another.
    public static let shared: SQLDebugLog = {
        let (arguments, environment) = (ProcessInfo.processInfo.arguments, RecordingVariable.environment)
        let log = SQLDebugLog(level: requestedLevel(arguments, environment))
        log.printsMigrations = requestedLevel(arguments, environment, of: "MigrationDebug") > 0
        return log
    }()

    private let currentLevel: Atomic<Int>
    private let areMigrationsPrinted = Atomic(false)
    private let currentLogger: Mutex<Logger?>
    /// The number of requests whose call sites were logged.
    private let requests = Atomic(0)
    private let write: @Sendable (String) -> Void

    /// Creates a separate log.
    ///
    /// - Parameters:
    ///   - level: 0 (off) to 4.
    ///   - write: Receives the lines if there is no ``logger``, on the thread of the statement; default: prints to standard
    ///     error.
    public init(level: Int, write: (@Sendable (String) -> Void)? = nil) {
        currentLevel = Atomic(level)
        currentLogger = Mutex(nil)
        self.write = write ?? { StandardError.write(Self.linePrefix() + $0 + "\n") }
    }

    /// The level of detail: 0 (off) to 4.
    public var level: Int {
        get { currentLevel.load(ordering: .relaxed) }
        set { currentLevel.store(newValue, ordering: .relaxed) }
    }

    /// Whether the parts of migrations are printed, whatever the level is.
    ///
    /// Default: false.
    public var printsMigrations: Bool {
        get { areMigrationsPrinted.load(ordering: .relaxed) }
        set { areMigrationsPrinted.store(newValue, ordering: .relaxed) }
    }

    /// The destination of the lines, at level debug; `nil` for standard error.
    public var logger: Logger? {
        get { currentLogger.withLock { $0 } }
        set { currentLogger.withLock { $0 = newValue } }
    }

    var isOn: Bool { level > 0 }

    /// The next request's number, from 1 on.
    func nextRequest() -> Int { requests.wrappingAdd(1, ordering: .relaxed).newValue }

    func print(_ category: Category, _ text: String) {
        let line = "CoreData: \(category.rawValue): \(text)"
        if let logger = currentLogger.withLock({ $0 }) {
            logger.debug("\(line)")
        } else {
            write(line)
        }
    }

    enum Category: String {
        case sql, annotation, details, error
    }

    /// The level of a log set on the command line, or else in the environment; 0 if neither is set.
    static func requestedLevel(
        _ arguments: [String], _ environment: [String: String], of name: String = "SQLDebug"
    ) -> Int {
        if let position = arguments.firstIndex(of: "-com.apple.CoreData.\(name)"), position + 1 < arguments.count,
            let level = Int(arguments[position + 1])
        {
            return level
        }
        return environment["FAULTLINE_\(name.uppercased())"].flatMap { Int($0) } ?? 0
    }
}
