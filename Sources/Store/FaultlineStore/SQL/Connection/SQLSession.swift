import CSQLite
package import FaultlineRecorder
import FaultlineTrace
import Foundation

/// The result of running a statement, besides its rows.
package struct StatementRun {
    var rows = 0
    /// For the trace; `nil` while not recording.
    var record: StatementRecord?
    /// Nanoseconds; 0 unless recording or logging.
    var duration: UInt64 = 0
    /// The time when it was ready to run, in nanoseconds of `CLOCK_MONOTONIC`; 0 unless recording or logging.
    var ready: UInt64 = 0
}

/// A connection with its recorder and log: runs statements, and records and logs the runs.
///
/// Used under its store's lock.
package final class SQLSession {
    package let connection: SQLConnection
    let recorder: Recorder
    let log: SQLDebugLog
    /// The tables whose indexes the trace contains.
    fileprivate var recordedTables: Set<String> = []

    package init(_ connection: SQLConnection, recorder: Recorder, log: SQLDebugLog) {
        self.connection = connection
        self.recorder = recorder
        self.log = log
        connection.busy.recorder = recorder
    }

    /// Runs one of the store's own statements to completion, recorded as its own event.
    ///
    /// - Returns: The number of changed rows.
    @discardableResult
    package func run(
        _ sql: String, _ values: [SQLValue] = [], doing: String, isLogged: Bool = true, isTimed: Bool = true,
        origin: TraceOrigin = TraceOrigin()
    ) throws(StoreError) -> Int {
        try run(
            try connection.statement(sql), values, doing: doing, isLogged: isLogged, isTimed: isTimed, origin: origin)
    }

    @discardableResult
    func run(
        _ statement: SQLStatement, _ values: [SQLValue] = [], doing: String, isLogged: Bool = true,
        isTimed: Bool = true,
        origin: TraceOrigin = TraceOrigin()
    ) throws(StoreError) -> Int {
        for (position, value) in values.enumerated() { statement.bind(value, at: Int32(position + 1)) }
        if isLogged { log.statement(statement.sql, values) }
        return try execute(statement, doing: doing, isTimed: isLogged && isTimed, origin: origin)
    }

    /// Runs a statement to completion whose values have been bound and logged, recorded as its own event.
    ///
    /// - Returns: The number of changed rows.
    @discardableResult
    func execute(
        _ statement: SQLStatement, doing: @autoclosure () -> String, isTimed: Bool = true,
        origin: TraceOrigin = TraceOrigin()
    ) throws(StoreError) -> Int {
        let open = recorder.begin()
        let measure = StatementMeasure(statement, self, measuresPages: false)
        var result = sqlite3_step(statement.handle)
        while result == SQLITE_ROW { result = sqlite3_step(statement.handle) }
        if connection.busy.tries > 0 { connection.busy.record(result, origin) }
        let changes = statement.type == .write && result == SQLITE_DONE ? connection.changes : 0
        let run = measure?.end(rows: changes, result: result) ?? StatementRun(rows: changes)
        let failure = result == SQLITE_DONE ? nil : connection.error(result, doing: doing())
        statement.reset()
        if let open, let record = run.record {
            recorder.end(open, record.fields, context: origin.context, site: origin.site)
        }
        if isTimed, log.isOn { log.executionTime(run.duration) }
        if let failure { throw failure }
        return changes
    }

    /// Reads the rows of a statement whose values have been bound.
    ///
    /// The caller records the event: its own, with ``StatementRun/record``, or one for the statement.
    ///
    /// - Parameter isSingle: Whether there is at most one row, which saves asking for a second.
    @inline(__always)
    func read(
        _ statement: SQLStatement, doing: @autoclosure () -> String, measuresPages: Bool, isSingle: Bool = false,
        _ body: (OpaquePointer) throws(StoreError) -> Void
    ) throws(StoreError) -> StatementRun {
        let measure = StatementMeasure(statement, self, measuresPages: measuresPages)
        var rows = 0
        var result = sqlite3_step(statement.handle)
        while result == SQLITE_ROW {
            rows += 1
            do {
                try body(statement.handle)
            } catch {
                _ = measure?.end(rows: rows, result: SQLITE_ABORT)
                statement.reset()
                throw error
            }
            result = isSingle ? SQLITE_DONE : sqlite3_step(statement.handle)
        }
        if connection.busy.tries > 0 { connection.busy.record(result, TraceOrigin()) }
        let run = measure?.end(rows: rows, result: result) ?? StatementRun(rows: rows)
        guard result == SQLITE_DONE else {
            let error = connection.error(result, doing: doing())
            statement.reset()
            throw error
        }
        statement.reset()
        return run
    }

    /// Reads the rows of a statement whose values have been bound, recorded as its own event.
    @discardableResult
    package func readAsEvent(
        _ statement: SQLStatement, doing: String, measuresPages: Bool = false, origin: TraceOrigin = TraceOrigin(),
        _ body: (OpaquePointer) throws(StoreError) -> Void
    ) throws(StoreError) -> StatementRun {
        try asEvent(statement, origin: origin) { (run) throws(StoreError) in
            run = try read(statement, doing: doing, measuresPages: measuresPages, body)
            return run
        }
    }

    /// Records running a statement as an event.
    ///
    /// - Parameters:
    ///   - isEvent: Whether to record an event.
    ///   - work: Runs the statement, and sets the result.
    @inline(__always)
    func asEvent<R>(
        if isEvent: Bool = true, _ statement: SQLStatement, origin: TraceOrigin,
        _ work: (inout StatementRun) throws(StoreError) -> R
    ) throws(StoreError) -> R {
        var run = StatementRun()
        guard isEvent, let open = recorder.begin() else { return try work(&run) }
        do {
            let result = try work(&run)
            if let record = run.record {
                recorder.end(open, record.fields, context: origin.context, site: origin.site)
            } else {
                recorder.cancel(open)
            }
            return result
        } catch {
            var fields = TraceEvent.Statement()
            fields.statement = statement.traceID
            fields.type = statement.type
            fields.error = UInt32(bitPattern: error.sqliteCode)
            recorder.end(open, fields, context: origin.context, site: origin.site)
            throw error
        }
    }

    /// SQLite's plan for a statement.
    ///
    /// Not recorded as an event, because the trace or the log requests it, not the program.
    func plan(_ sql: String) -> [(id: Int, parent: Int, detail: String)] {
        guard let explain = try? connection.prepare("EXPLAIN QUERY PLAN " + sql) else { return [] }
        var rows: [(id: Int, parent: Int, detail: String)] = []
        while sqlite3_step(explain.handle) == SQLITE_ROW {
            rows.append(
                (
                    Int(sqlite3_column_int(explain.handle, 0)), Int(sqlite3_column_int(explain.handle, 1)),
                    String(cString: sqlite3_column_text(explain.handle, 3))
                ))
        }
        return rows
    }
}

/// Measures a run of a statement with a clock and SQLite's counters.
struct StatementMeasure {
    // The caller holds the statement and the session.
    private unowned(unsafe) let statement: SQLStatement
    private unowned(unsafe) let session: SQLSession
    private let isRecording: Bool
    private let measuresPages: Bool
    private let start: UInt64
    /// The time when the statement was ready to run.
    ///
    /// On the first run, this precedes requesting the plan for the trace, which is not the program's work.
    private let ready: UInt64

    /// Returns `nil` if neither the trace nor the log needs the measurement.
    @inline(__always)
    init?(_ statement: SQLStatement, _ session: SQLSession, measuresPages: Bool) {
        let isRecording = session.recorder.isEnabled
        guard isRecording || session.log.isOn else { return nil }
        self.statement = statement
        self.session = session
        self.isRecording = isRecording
        self.measuresPages = measuresPages
        var ready: UInt64?
        let cost = session.recorder.beginCost()
        if isRecording {
            if statement.traceID == 0 {
                ready = session.recorder.now()
                statement.intern(session)
            }
            // Unrecorded runs leave their counts behind, so reset the counters.
            for counter in Self.counters { sqlite3_stmt_status(statement.handle, counter, 1) }
            if measuresPages { _ = session.connection.takePageCounts() }
            _ = session.connection.takeTextCounts()
        }
        start = session.recorder.now()
        self.ready = ready ?? start
        session.recorder.endCost(cost)
    }

    private static let counters = [
        SQLITE_STMTSTATUS_FULLSCAN_STEP, SQLITE_STMTSTATUS_SORT, SQLITE_STMTSTATUS_AUTOINDEX, SQLITE_STMTSTATUS_VM_STEP,
        SQLITE_STMTSTATUS_REPREPARE,
    ]

    func end(rows: Int, result: Int32) -> StatementRun {
        let cost = session.recorder.beginCost()
        defer { session.recorder.endCost(cost) }
        var run = StatementRun(rows: rows)
        run.duration = session.recorder.now() - start
        run.ready = ready
        guard isRecording else { return run }
        func counter(_ counter: Int32) -> Int32 { sqlite3_stmt_status(statement.handle, counter, 1) }
        var fields = TraceEvent.Statement()
        fields.statement = statement.traceID
        fields.plan = statement.planID
        fields.type = statement.type
        fields.rows = UInt32(clamping: rows)
        fields.fullScanSteps = UInt32(clamping: counter(SQLITE_STMTSTATUS_FULLSCAN_STEP))
        fields.sorts = UInt32(clamping: counter(SQLITE_STMTSTATUS_SORT))
        fields.automaticIndexes = UInt32(clamping: counter(SQLITE_STMTSTATUS_AUTOINDEX))
        fields.virtualMachineSteps = UInt64(clamping: counter(SQLITE_STMTSTATUS_VM_STEP))
        fields.preparations = UInt32(clamping: counter(SQLITE_STMTSTATUS_REPREPARE)) + (statement.isFresh ? 1 : 0)
        if measuresPages {
            let pages = session.connection.takePageCounts()
            fields.pageHits = UInt32(clamping: pages.hits)
            fields.pageMisses = UInt32(clamping: pages.misses)
        }
        fields.error = result == SQLITE_DONE ? 0 : UInt32(bitPattern: result)
        let texts = session.connection.takeTextCounts()
        (fields.textComparisons, fields.textMatches) = (texts.comparisons, texts.matches)
        run.record = StatementRecord(fields: fields, start: start, duration: run.duration)
        return run
    }
}

extension SQLStatement {
    /// Enters the statement into the trace's dictionary, with its plan if it has one.
    func intern(_ session: SQLSession) {
        traceID = session.recorder.intern(.statement(StatementEntry(sql: sql, file: session.connection.file)))
        guard type == .read || type == .write else { return }
        let statistics = TableStatistics(connection: session.connection)
        let rows = session.plan(sql).map { step in
            statistics.describe(step, of: sql, recorded: &session.recordedTables)
        }
        if !rows.isEmpty { planID = session.recorder.intern(.plan(PlanEntry(rows: rows))) }
    }
}

extension SQLConnection {
    /// The absolute path of the database; `nil` if it is in memory.
    fileprivate var file: String? {
        sqlite3_db_filename(handle, "main").map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Returns the hits and misses of SQLite's page cache since the last call.
    func takePageCounts() -> (hits: Int32, misses: Int32) {
        var hits: Int32 = 0
        var misses: Int32 = 0
        var highest: Int32 = 0
        sqlite3_db_status(handle, SQLITE_DBSTATUS_CACHE_HIT, &hits, &highest, 1)
        sqlite3_db_status(handle, SQLITE_DBSTATUS_CACHE_MISS, &misses, &highest, 1)
        return (hits, misses)
    }
}
