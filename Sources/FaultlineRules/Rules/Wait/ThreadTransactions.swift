import FaultlineProfile
import FaultlineTrace

/// The open transactions of threads, outside any operation of an object store.
///
/// A statement does not name its connection, so the statements of a thread count as those of one.
struct ThreadTransactions {
    fileprivate enum State {
        /// It has neither read nor written.
        case begun
        /// It has read, and will need SQLite's lock if it writes.
        case hasRead
        /// It has the lock since a time.
        case writes(since: UInt64)
        /// It asked for the lock when it began, and has it since a time.
        case asked(since: UInt64)
    }

    fileprivate struct Thread {
        var state: State?
        /// The longest time for which a transaction had the lock, in nanoseconds.
        var longestHold: UInt64 = 0

        mutating func end(at time: UInt64) {
            switch state {
            case .writes(let since), .asked(let since): longestHold = max(longestHold, time &- min(since, time))
            case .begun, .hasRead, nil: break
            }
            state = nil
        }
    }

    private var threads = BoundedTable<UInt32, Thread>(capacity: 1024)

    /// Whether a thread is in a transaction that has read and not yet written.
    ///
    /// SQLite does not wait for the lock then, whatever the timeout: another connection that waits for this one's read to
    /// end would never get it (https://sqlite.org/c3ref/busy_handler.html).
    func hasOnlyRead(_ thread: UInt32) -> Bool {
        if case .hasRead = threads.peek(thread)?.state { true } else { false }
    }

    /// Whether a thread is in a transaction that asked for the lock when it began.
    func hasAsked(_ thread: UInt32) -> Bool {
        if case .asked = threads.peek(thread)?.state { true } else { false }
    }

    /// The longest time for which a transaction of the thread had the lock so far, in nanoseconds; 0 if it had none.
    func longestHold(of thread: UInt32) -> UInt64 { threads.peek(thread)?.longestHold ?? 0 }

    mutating func observe(_ statement: TraceEvent.Statement, _ event: TraceEvent, in context: ProcessContext) {
        // A statement that failed has changed nothing.
        guard statement.error == 0 else { return }
        let begin = event.start + min(statement.wait, event.duration)
        switch statement.type {
        case .transaction:
            guard let sql = context.dictionary.statement(statement.statement)?.sql else { return }
            change(event.thread) { $0.observe(transaction: sql, from: begin, to: event.end) }
        case .read: change(event.thread) { if case .begun = $0.state { $0.state = .hasRead } }
        case .write:
            change(event.thread) { thread in
                switch thread.state {
                case .begun, .hasRead: thread.state = .writes(since: begin)
                case nil: thread.longestHold = max(thread.longestHold, event.end &- min(begin, event.end))
                case .writes, .asked: break
                }
            }
        case .schema, .other: break
        }
    }

    private mutating func change(_ number: UInt32, _ change: (inout Thread) -> Void) {
        if threads.update(number, change) != nil { return }
        var thread = Thread()
        change(&thread)
        _ = threads.insert(thread, for: number)
    }
}

extension ThreadTransactions.Thread {
    fileprivate mutating func observe(transaction sql: String, from begin: UInt64, to end: UInt64) {
        switch TransactionStatement(sql) {
        case .begin:
            let words = sql.uppercased()
            let asks = words.contains("IMMEDIATE") || words.contains("EXCLUSIVE")
            state = asks ? .asked(since: begin) : .begun
        case .savepoint: if state == nil { state = .begun }
        case .commit, .rollback: self.end(at: end)
        case .release, .rollbackTo, nil: break
        }
    }
}
