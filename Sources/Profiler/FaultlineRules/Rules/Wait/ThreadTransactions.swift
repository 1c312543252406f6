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
        /// It has the lock.
        case writes(Hold)
        /// It has the lock, and asked for it when it began.
        case asked(Hold)
    }

    /// The time for which a transaction has SQLite's lock.
    fileprivate struct Hold {
        /// The line of the statement that took it, or `nil` if it is not known.
        var site: CallSite?
        var start: UInt64
        var end = UInt64.max

        func overlap(_ begin: UInt64, _ finish: UInt64) -> UInt64 {
            let (first, last) = (max(start, begin), min(end, finish))
            return last > first ? last - first : 0
        }
    }

    fileprivate struct Thread {
        var state: State?
        /// The longest time for which a transaction had the lock, in nanoseconds.
        var longestHold: UInt64 = 0
        /// The last ones that another thread can have waited for.
        var holds: [Hold] = []
        /// Whether its last statement asked for the lock, and failed.
        var hasAskedInVain = false

        private static let lastHolds = 8
        /// SQLite first tries again after a millisecond.
        private static let shortestHold: UInt64 = 50_000

        /// The time for which its open transaction has the lock.
        var hold: Hold? {
            switch state {
            case .writes(let hold), .asked(let hold): hold
            case .begun, .hasRead, nil: nil
            }
        }

        mutating func end(at time: UInt64) {
            if let hold { keep(hold, until: time) }
            state = nil
        }

        mutating func keep(_ hold: Hold, until time: UInt64) {
            var hold = hold
            hold.end = max(time, hold.start)
            longestHold = max(longestHold, hold.end - hold.start)
            guard hold.end - hold.start >= Self.shortestHold else { return }
            if holds.count == Self.lastHolds { holds.removeFirst() }
            holds.append(hold)
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

    /// Whether a thread is in a transaction that asked for the lock when it began, or has failed to get it.
    func hasAsked(_ thread: UInt32) -> Bool {
        threads.read(thread) { thread in
            if case .asked = thread.state { true } else { thread.hasAskedInVain }
        } ?? false
    }

    /// The longest time for which a transaction of the thread had the lock until `time`, in nanoseconds; 0 if it had none.
    func longestHold(of thread: UInt32, until time: UInt64) -> UInt64 {
        threads.read(thread) { max($0.longestHold, $0.hold?.overlap(0, time) ?? 0) } ?? 0
    }

    /// The line that took the lock for which another thread waited.
    func owner(_ thread: UInt32, from start: UInt64, to end: UInt64) -> CallSite? {
        guard let thread = threads.peek(thread) else { return nil }
        let holds = thread.holds + [thread.hold].compactMap { $0 }
        return holds.filter { $0.overlap(start, end) > 0 }.max { $0.overlap(start, end) < $1.overlap(start, end) }?.site
    }

    mutating func observe(_ statement: TraceEvent.Statement, _ event: TraceEvent, in context: inout ProcessContext) {
        // A statement that failed has changed nothing.
        guard statement.error == 0 else {
            let sql = context.dictionary.statement(statement.statement)?.sql ?? ""
            return change(event.thread) { $0.hasAskedInVain = Self.asks(sql) }
        }
        let begin = event.start &+ min(statement.wait, event.duration)
        switch statement.type {
        case .transaction:
            guard let sql = context.dictionary.statement(statement.statement)?.sql else { return }
            let hold = Self.asks(sql) ? Hold(site: context.stackSite(of: event), start: begin) : nil
            change(event.thread) { $0.observe(TransactionStatement(sql), taking: hold, until: event.end) }
        case .read: _ = threads.update(event.thread) { if case .begun = $0.state { $0.state = .hasRead } }
        case .write:
            if threads.peek(event.thread)?.hold != nil { return }
            let hold = Hold(site: context.stackSite(of: event), start: begin)
            change(event.thread) { thread in
                if thread.state == nil { thread.keep(hold, until: event.end) } else { thread.state = .writes(hold) }
            }
        case .schema, .other: break
        }
    }

    /// Whether a statement begins a transaction and asks for the lock.
    fileprivate static func asks(_ sql: String) -> Bool {
        guard case .begin = TransactionStatement(sql) else { return false }
        let words = sql.uppercased()
        return words.contains("IMMEDIATE") || words.contains("EXCLUSIVE")
    }

    private mutating func change(_ number: UInt32, _ change: (inout Thread) -> Void) {
        if threads.update(number, change) != nil { return }
        var thread = Thread()
        change(&thread)
        _ = threads.insert(thread, for: number)
    }
}

extension ThreadTransactions.Thread {
    fileprivate mutating func observe(
        _ transaction: TransactionStatement?, taking hold: ThreadTransactions.Hold?, until end: UInt64
    ) {
        hasAskedInVain = false
        switch transaction {
        case .begin: state = hold.map { .asked($0) } ?? .begun
        case .savepoint: if state == nil { state = .begun }
        case .commit, .rollback: self.end(at: end)
        case .release, .rollbackTo, nil: break
        }
    }
}
