import CStore
import Foundation

extension SQLDebugLog {
    func connecting(_ path: String) {
        guard isOn else { return }
        print(.annotation, "Connecting to sqlite database file at \"\(path)\"")
    }

    /// Logs the call site of a request whose statements are about to run: `save 14 at Groceries/List.swift:42 in add(_:)`.
    func request(_ kind: StaticString, _ site: CallerSite) {
        guard isOn else { return }
        print(.annotation, "\(kind) \(nextRequest()) at \(site.fileID):\(site.line) in \(site.function)")
    }

    /// The text before a line on standard error: the time, the program, its process and the thread.
    static func linePrefix() -> String {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        var date = tm()
        localtime_r(&now.tv_sec, &date)
        let time = String(
            format: "%04d-%02d-%02d %02d:%02d:%02d.%03d", date.tm_year + 1900, date.tm_mon + 1, date.tm_mday,
            date.tm_hour, date.tm_min, date.tm_sec, now.tv_nsec / 1_000_000)
        return "\(time) \(program)[\(getpid()):\(String(cstore_thread_number(), radix: 16))] "
    }

    private static let program =
        (CommandLine.arguments.first ?? "").split(separator: "/").last.map(String.init) ?? "program"

    /// Logs a statement that is about to run, with its bound values.
    func statement(_ sql: String, _ values: @autoclosure () -> [SQLValue] = [], arrays: Int = 0) {
        guard isOn else { return }
        for array in 0..<arrays {
            print(.annotation, "Bound intarray _Z_intarray\(array)")
            print(.annotation, "Bound intarray values.")
        }
        print(.sql, sql)
        guard level >= 2 else { return }
        for (position, value) in values().enumerated() {
            print(.details, "SQLite bind[\(position)] = \(value.debugText)")
        }
    }

    func connectionTime(_ nanoseconds: UInt64) {
        print(.annotation, "sql connection fetch time: \(Self.seconds(nanoseconds))")
    }

    func executionTime(_ nanoseconds: UInt64) {
        print(.annotation, "sql execution time: \(Self.seconds(nanoseconds))")
    }

    func totalTime(_ nanoseconds: UInt64, rows: Int) {
        print(.annotation, "total fetch execution time: \(Self.seconds(nanoseconds)) for \(rows) rows.")
    }

    /// Logs the number of rows that a statement returned at level 2, and the rows from level 3.
    func returned(_ statement: SQLStatement, entity: String, rows: Int, values: () -> [String]) {
        guard level >= 2 else { return }
        let address = String(UInt(bitPattern: statement.handle), radix: 16)
        let head =
            "fetch using NSSQLiteStatement <0x\(address)> on entity '\(entity)' with sql text '\(statement.sql) ' returned \(rows) rows"
        guard level >= 3 else { return print(.annotation, head) }
        let lines = values().map { "    " + $0 }
        print(
            .annotation, ([head + " with values: ("] + [lines.joined(separator: ",\n"), ")"]).joined(separator: "\n"))
    }

    func plan(_ sql: String, _ rows: [(id: Int, parent: Int, detail: String)]) {
        let lines = rows.map { "\($0.id) \($0.parent) 0 \($0.detail)" }
        print(.details, (["SQLite: EXPLAIN QUERY PLAN \(sql)"] + lines).joined(separator: "\n"))
    }

    /// Logs a part of a migration.
    package func migration(_ text: @autoclosure () -> String) {
        guard printsMigrations else { return }
        print(.annotation, "(migration) \(text())")
    }

    package static func seconds(since start: ContinuousClock.Instant) -> String {
        seconds(UInt64(max((ContinuousClock.now - start) / .nanoseconds(1), 0)))
    }

    static func seconds(_ nanoseconds: UInt64) -> String {
        String(format: "%.4fs", Double(nanoseconds) / 1e9)
    }
}
