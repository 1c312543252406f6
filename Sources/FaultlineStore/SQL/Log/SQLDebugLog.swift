import FaultlineRecorder
import Foundation
public import Logging
import Synchronization

/// Core Data's SQL log: what runs in SQLite, line by line.
///
/// Level 1 prints statements with their times, 2 also bound values and row counts, 3 rows instead of row counts, 4 also
/// SQLite's plans. It is switched on by `-com.apple.CoreData.SQLDebug 1` on the command line, by `FAULTLINE_SQLDEBUG=1`
/// in the environment, or by setting ``level``. Lines go to standard error, or to ``logger`` once there is one:
///
///     CoreData: sql: SELECT 0, t0.Z_PK, t0.Z_OPT, t0.ZNAME FROM ZITEM t0
///     CoreData: annotation: sql connection fetch time: 0.0003s
///     CoreData: annotation: total fetch execution time: 0.0005s for 20 rows.
///
/// Beyond what Core Data prints, writes have a line with their time and faults that the row cache fills have a line.
/// Levels from 2 on print values.
public final class SQLDebugLog: Sendable {
    /// The log of stores that were given no other.
    public static let shared = SQLDebugLog(
        level: requestedLevel(ProcessInfo.processInfo.arguments, RecordingVariable.environment))

    private let currentLevel: Atomic<Int>
    private let currentLogger: Mutex<Logger?>
    private let write: @Sendable (String) -> Void

    /// A log of its own.
    ///
    /// - Parameters:
    ///   - level: 0 (off) to 4.
    ///   - write: takes the lines where there is no ``logger``; standard error unless said otherwise.
    public init(level: Int, write: (@Sendable (String) -> Void)? = nil) {
        currentLevel = Atomic(level)
        currentLogger = Mutex(nil)
        self.write = write ?? { StandardError.write($0 + "\n") }
    }

    /// How much is printed: 0 (off) to 4.
    public var level: Int {
        get { currentLevel.load(ordering: .relaxed) }
        set { currentLevel.store(newValue, ordering: .relaxed) }
    }

    /// Where the lines go, at level debug; `nil`: standard error.
    public var logger: Logger? {
        get { currentLogger.withLock { $0 } }
        set { currentLogger.withLock { $0 = newValue } }
    }

    var isOn: Bool { level > 0 }

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

    /// The level that the command line asks for, or else the environment; 0 if neither does.
    static func requestedLevel(_ arguments: [String], _ environment: [String: String]) -> Int {
        if let place = arguments.firstIndex(of: "-com.apple.CoreData.SQLDebug"), place + 1 < arguments.count,
            let level = Int(arguments[place + 1])
        {
            return level
        }
        return environment["FAULTLINE_SQLDEBUG"].flatMap { Int($0) } ?? 0
    }
}
