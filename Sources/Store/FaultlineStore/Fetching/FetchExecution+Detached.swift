import CSQLite
import Dispatch
import FaultlineModel
import FaultlineRecorder
import Synchronization

extension FetchExecution {
    /// A fetch that is ready to be read on any thread.
    fileprivate struct Plan {
        let execution: FetchExecution
        let select: SelectStatement
        let sortKeys: Int
        let partial: PartialSelection?
        let pool: ConnectionPool
        let origin: TraceOrigin
        /// The keys that the statement leaves out because of unsaved changes; `nil` if there were no changes.
        let hidden: Set<Int64>?
        let saveCount: Int
    }

    /// Generates the statement, on the context's queue.
    fileprivate func plan() throws(StoreError) -> Plan {
        let pending = PendingObjects(context, terms, entity)
        let sortKeys = pending == nil ? 0 : terms.sortDescriptors.count
        let partial = try partialSelection()
        let select = try SQLGenerator.statement(
            pending?.widened(counting: false) ?? terms, form, entity: entity, model: store.schema,
            store: store.identity, hiding: pending?.hidden ?? [], selectsSortKeys: sortKeys > 0, partial: partial)
        return Plan(
            execution: self, select: select, sortKeys: sortKeys, partial: partial, pool: context.pool(of: store),
            origin: store.recorder.isEnabled ? context.origin(at: site) : TraceOrigin(),
            hidden: pending.map { Set($0.hidden) }, saveCount: context.saveCount)
    }

    /// Reads the rows, on any thread.
    ///
    /// - Parameter use: Called with the connection before it is read, and with `nil` afterward; `false` ends the fetch.
    fileprivate func read(_ plan: Plan, use: (OpaquePointer?) -> Bool) throws(StoreError) -> DetachedRows {
        let start = store.recorder.isEnabled || store.log.isOn ? store.recorder.now() : 0
        let span = store.recorder.begin().map { FetchSpan($0, store.recorder, plan.origin) }
        var found = FetchedRows()
        found.partial = plan.partial
        span?.describe { describe(&$0, plan.select) }
        span?.restart()
        do throws(StoreError) {
            let (run, keys) = try plan.pool.read(for: plan.origin) { connection throws(StoreError) in
                span?.didLock()
                guard use(connection.sqlite.handle) else {
                    throw StoreError(.database, "Fetching \(entity.schema.name): the task was cancelled.")
                }
                defer { _ = use(nil) }
                return try read(form, plan.select, plan.sortKeys, on: connection, &found, span)
            }
            found.count = run.rows
            if let span { (found.fetch, found.shape) = (span.id, span.event.shape) }
            span?.finish(rows: found.count, bytes: bytes(of: found, form), since: start)
            span?.end()
            return DetachedRows(found: found, keys: keys, duration: store.log.isOn ? store.recorder.now() - start : 0)
        } catch {
            span?.end(error)
            throw error
        }
    }

    /// Merges the context's unsaved changes, on the context's queue.
    ///
    /// - Returns: `nil` if the statement took other changes into account, and must run again.
    fileprivate func finish(_ plan: Plan, _ rows: DetachedRows) -> FetchedRows? {
        let pending = PendingObjects(context, terms, entity)
        guard pending.map({ Set($0.hidden) }) == plan.hidden, context.saveCount == plan.saveCount else { return nil }
        var found = rows.found
        if let pending {
            merge(pending.merge(pending.matches(), count: found.count, keys: rows.keys), rows.keys, into: &found)
        }
        if store.log.isOn { logTotal(found, rows.duration, plan.select.sql) }
        return found
    }
}

/// The rows of a fetch, before unsaved changes are merged.
private struct DetachedRows {
    var found: FetchedRows
    /// The sort keys of each row, if there were unsaved changes.
    var keys: [[SQLValue]]
    /// In nanoseconds, for the log.
    var duration: UInt64
}

/// One reading of a fetch away from its context's queue.
final class DetachedReading: @unchecked Sendable {
    // Used by the context's thread, then by the one that reads, then by the context's again. Only `state` is shared, with
    // the thread that cancels.
    private let plan: FetchExecution.Plan
    private var outcome: Result<DetachedRows, StoreError>?
    private let state = Mutex(State())

    private struct State {
        /// The address of the connection while it is read; otherwise 0.
        var connection: UInt = 0
        var isCancelled = false
    }

    /// Prepares the reading, on the context's queue.
    init(_ execution: FetchExecution) throws(StoreError) {
        plan = try execution.plan()
    }

    /// Reads on another thread.
    ///
    /// - Throws: ``StoreError`` as a fetch does, or `CancellationError`.
    func run() async throws {
        try Task.checkCancellation()
        let scope = RecordedScope.inherited
        let recorder = plan.execution.store.recorder
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                DispatchQueue.global(qos: .userInitiated).async {
                    RecordedScope.with(scope, of: recorder) { self.read() }
                    continuation.resume()
                }
            }
        } onCancel: {
            interrupt()
        }
        if case .failure(let error) = outcome {
            try Task.checkCancellation()
            throw error
        }
    }

    private func read() {
        outcome = Result { () throws(StoreError) in
            try plan.execution.read(plan) { connection in
                state.withLock { state in
                    state.connection = UInt(bitPattern: connection)
                    return !state.isCancelled
                }
            }
        }
    }

    /// Interrupts the statement, which must not end before this returns.
    private func interrupt() {
        state.withLock { state in
            state.isCancelled = true
            if let connection = OpaquePointer(bitPattern: state.connection) { sqlite3_interrupt(connection) }
        }
    }

    /// Returns the rows with the context's unsaved changes, on the context's queue.
    ///
    /// - Returns: `nil` if the changes are others than before, and the store must be read again.
    func finish() -> FetchedRows? {
        guard case .success(let rows)? = outcome else { return nil }
        return plan.execution.finish(plan, rows)
    }
}
