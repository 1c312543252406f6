internal import FaultlineTrace

/// The open transactions of threads, outside any operation of an object store.
///
/// A statement does not name its connection, so the statements of a thread count as those of one.
struct ThreadTransactions {
    private enum State {
        /// It has neither read nor written.
        case begun
        /// It has read, and will need SQLite's lock if it writes.
        case hasRead
        /// It has the lock, or asked for it when it began.
        case writes
    }

    private var states = BoundedTable<UInt32, State>(capacity: 1024)

    /// Whether a thread is in a transaction that has read and not yet written.
    ///
    /// SQLite does not wait for the lock then, whatever the timeout: another connection that waits for this one's read to
    /// end would never get it (https://sqlite.org/c3ref/busy_handler.html).
    func hasOnlyRead(_ thread: UInt32) -> Bool { states.peek(thread) == .hasRead }

    mutating func observe(_ statement: TraceEvent.Statement, on thread: UInt32, in context: ProcessContext) {
        // A statement that failed has changed nothing.
        guard statement.error == 0 else { return }
        switch statement.type {
        case .transaction:
            guard let sql = context.dictionary.statement(statement.statement)?.sql else { return }
            observe(transaction: sql, on: thread)
        case .read: _ = states.update(thread) { if $0 == .begun { $0 = .hasRead } }
        case .write: _ = states.update(thread) { $0 = .writes }
        case .schema, .other: break
        }
    }

    private mutating func observe(transaction sql: String, on thread: UInt32) {
        switch TransactionStatement(sql) {
        case .begin:
            let words = sql.uppercased()
            let asks = words.contains("IMMEDIATE") || words.contains("EXCLUSIVE")
            _ = states.insert(asks ? .writes : .begun, for: thread)
        case .savepoint: if !states.contains(thread) { _ = states.insert(.begun, for: thread) }
        case .commit, .rollback: _ = states.remove(thread)
        case .release, .rollbackTo, nil: break
        }
    }
}
