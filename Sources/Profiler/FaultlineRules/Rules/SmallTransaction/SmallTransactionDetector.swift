internal import FaultlineProfile
internal import FaultlineTrace

/// An open group of small transactions that end with the same statement, on one thread in one scope.
struct OpenSmallTransactions: RepeatedGroup {
    struct Key: ScopedKey {
        var scope: EventID
        var thread: UInt32
        var statement: DictionaryID
        var site: CallSite?
    }

    var repetition = Repetition()
    var implicit: UInt64 = 0
    /// The transactions that had read before they wrote.
    var reading: UInt64 = 0
    /// The time waiting for the disk, in nanoseconds.
    var syncTime: UInt64 = 0
    /// The lines that committed.
    var commits: [CallSite: UInt64] = [:]
    var library: StatementLibrary?

    mutating func merge(_ other: OpenSmallTransactions) {
        repetition.merge(other.repetition)
        implicit &+= other.implicit
        reading &+= other.reading
        syncTime &+= other.syncTime
        commits.merge(other.commits)
        library = library ?? other.library
    }
}

/// Detects transactions that write little and follow one another, outside any operation of an object store.
///
/// A statement does not name its connection, so the statements of a thread count as those of one.
struct SmallTransactionDetector: EvidenceDetector {
    static let name = "smallTransactions"
    static let kinds: Set<EventKind> = [.sql]
    private static let capacity = 4096

    /// The minimum number of transactions of a group.
    static let threshold = Threshold("R28", "minimumTransactions", 10, .count, "minimum consecutive transactions")
    /// The maximum number of statements that write in a small transaction.
    private static let mostWrites: UInt64 = 2

    var evidence: [StatementSite: SmallTransactionEvidence] = [:]
    private var open = BoundedTable<OpenSmallTransactions.Key, OpenSmallTransactions>(capacity: capacity)
    /// The transaction that each thread has begun.
    private var transactions: [UInt32: OpenTransaction] = [:]

    mutating func observe(_ event: TraceEvent, in context: inout ProcessContext, _ tables: inout ProfileTables) {
        // The statements of a save belong to other rules.
        guard case .sql(let statement) = event.detail, event.parent == 0, statement.error == 0 else { return }
        switch statement.type {
        case .transaction: observe(transaction: statement, event, in: &context)
        case .write:
            guard transactions[event.thread] == nil else {
                transactions[event.thread]?.add(statement, event)
                return
            }
            add(statement.statement, of: event, rows: UInt64(statement.rows), nil, in: &context)
        case .read: transactions[event.thread]?.noteRead()
        default: break
        }
    }

    mutating func finish(in context: inout ProcessContext, _ tables: inout ProfileTables) {
        evaluate(open.drain(), in: &context)
    }

    private mutating func observe(
        transaction statement: TraceEvent.Statement, _ event: TraceEvent, in context: inout ProcessContext
    ) {
        guard let sql = context.dictionary.statement(statement.statement)?.sql else { return }
        switch TransactionStatement(sql) {
        case .begin: transactions[event.thread] = OpenTransaction(begin: event)
        case .commit: end(with: statement, event, in: &context)
        case .rollback: transactions[event.thread] = nil
        case .savepoint(let name):
            if transactions[event.thread]?.observe(savepoint: name) == nil {
                transactions[event.thread] = OpenTransaction(begin: event, savepoint: name)
            }
        case .release(let name):
            if transactions[event.thread]?.isEnded(byReleaseOf: name) == true {
                end(with: statement, event, in: &context)
            }
        case .rollbackTo(let name): transactions[event.thread]?.observe(rollbackTo: name)
        case nil: break
        }
    }

    /// Adds a thread's transaction, as one operation, if it wrote little.
    private mutating func end(
        with statement: TraceEvent.Statement, _ event: TraceEvent, in context: inout ProcessContext
    ) {
        guard let done = transactions.removeValue(forKey: event.thread), done.writes <= Self.mostWrites,
            let whole = done.whole(endedBy: statement, event)
        else { return }
        add(whole.statement, of: whole.event, rows: done.rows, (done, event), in: &context)
    }

    /// - Parameter ends: The beginning and the end of the transaction, or `nil` if SQLite began and ended it for the one
    ///   statement.
    private mutating func add(
        _ statement: DictionaryID, of event: TraceEvent, rows: UInt64,
        _ ends: (transaction: OpenTransaction, commit: TraceEvent)?,
        in context: inout ProcessContext
    ) {
        let key = OpenSmallTransactions.Key(
            scope: event.scope, thread: event.thread, statement: statement, site: context.stackSite(of: event))
        // The writes of a transaction run in a call of the function that began it, which the loop may have called.
        if let group = open.removeIfLeft(key, before: event, begunBy: ends?.transaction.begin, in: &context) {
            evaluate([(key, group)], in: &context)
        }
        if !open.contains(key) {
            var group = OpenSmallTransactions()
            group.library = context.library(on: event.stack)
            if let evicted = open.insert(group, for: key) { evaluate([evicted], in: &context) }
        }
        var syncTime: UInt64 = 0
        if case .sql(let statement) = event.detail { syncTime = statement.syncTime }
        let end = ends.flatMap { context.stackSite(of: $0.commit) }
        open.add(event, rows: rows, to: key, in: &context) {
            $0.implicit &+= ends == nil ? 1 : 0
            $0.reading &+= ends?.transaction.readsFirst == true ? 1 : 0
            if let end { $0.commits[end, default: 0] &+= 1 }
            $0.syncTime &+= syncTime
        }
    }

    /// Adds groups to the evidence if they pass the threshold.
    private mutating func evaluate(
        _ open: [(key: OpenSmallTransactions.Key, value: OpenSmallTransactions)], in context: inout ProcessContext
    ) {
        for (key, group) in context.units(of: open) where group.repetition.executions >= Self.threshold.count {
            guard let sql = context.dictionary.statement(key.statement)?.sql else { continue }
            let statement = StatementSite(sql: sql, site: key.site)
            let repetition = group.repetition
            var found = SmallTransactionEvidence(
                repetition,
                in: surroundings(of: key.scope, for: statement, outside: repetition.wallTime, in: &context))
            found.implicit = group.implicit
            found.reading = group.reading
            found.syncTime = group.syncTime
            found.commits = group.commits
            found.libraries = group.library.map { [$0.rawValue] } ?? []
            add(found, to: statement)
        }
    }
}

extension Profile {
    /// Small transactions that followed one another, outside any operation of an object store.
    var smallTransactions: [(key: StatementSite, evidence: SmallTransactionEvidence)] {
        evidence(of: SmallTransactionDetector.self)
    }
}

/// A transaction that a thread has begun, with BEGIN or with a savepoint outside any transaction.
///
/// "When SAVEPOINT is the outer-most savepoint and it is not within a BEGIN…COMMIT then the behavior is the same as BEGIN
/// DEFERRED TRANSACTION", and its RELEASE is a COMMIT (https://sqlite.org/lang_savepoint.html).
struct OpenTransaction: Sendable {
    let begin: TraceEvent
    private(set) var writes: UInt64 = 0
    /// Whether it read before it wrote.
    private(set) var readsFirst = false
    private(set) var rows: UInt64 = 0
    private var time: UInt64 = 0
    /// The time of that waiting for SQLite's lock, in nanoseconds.
    private var wait: UInt64 = 0
    /// The time of that waiting for the disk, in nanoseconds.
    private var syncTime: UInt64 = 0
    private var lastWrite: (event: TraceEvent, statement: DictionaryID)?
    /// The savepoints inside a transaction that a savepoint began, that one first; `nil` if BEGIN began it.
    private var savepoints: [Substring]?

    /// The most savepoints to remember; the innermost of deeper ones are released before the others.
    private static let mostSavepoints = 64

    init(begin: TraceEvent, savepoint: Substring? = nil) {
        self.begin = begin
        savepoints = savepoint.map { [$0] }
    }

    mutating func add(_ statement: TraceEvent.Statement, _ event: TraceEvent) {
        writes &+= 1
        rows &+= UInt64(statement.rows)
        time &+= event.duration
        wait &+= statement.wait
        syncTime &+= statement.syncTime
        lastWrite = (event, statement.statement)
    }

    mutating func noteRead() { readsFirst = readsFirst || writes == 0 }

    mutating func observe(savepoint name: Substring) {
        guard let count = savepoints?.count, count < Self.mostSavepoints else { return }
        savepoints?.append(name)
    }

    /// Whether the release of a savepoint, which releases those inside it too, ends the transaction.
    mutating func isEnded(byReleaseOf name: Substring) -> Bool {
        guard let place = savepoints?.lastIndex(of: name) else { return false }
        savepoints?.removeSubrange(place...)
        return place == 0
    }

    /// Forgets the savepoints inside one that the transaction is rolled back to.
    mutating func observe(rollbackTo name: Substring) {
        guard let place = savepoints?.lastIndex(of: name) else { return }
        savepoints?.removeSubrange((place + 1)...)
    }

    /// The transaction as one operation at the line that wrote last, or `nil` if none did.
    func whole(
        endedBy end: TraceEvent.Statement, _ event: TraceEvent
    ) -> (event: TraceEvent, statement: DictionaryID)? {
        guard var whole = lastWrite else { return nil }
        whole.event.start = begin.start
        whole.event.duration = begin.duration &+ time &+ event.duration
        if case .sql(var last) = whole.event.detail {
            last.wait = begin.duration &- begin.timeWithoutLockWait &+ wait &+ end.wait
            last.syncTime = syncTime &+ end.syncTime
            whole.event.detail = .sql(last)
        }
        return whole
    }
}

/// Consecutive transactions that write one or two statements each.
///
/// It includes only transactions that passed the threshold within one scope or unit of work.
struct SmallTransactionEvidence: RunEvidence {
    /// The last statement that wrote.
    typealias Key = StatementSite

    var runs = RunSums()
    /// The transactions that SQLite began by itself for one statement.
    var implicit: UInt64 = 0
    /// The transactions that had read before they wrote.
    var reading: UInt64 = 0
    /// The part of that time in which SQLite waited for the disk, in nanoseconds; 0 if it was not recorded.
    var syncTime: UInt64 = 0
    /// The lines that committed the transactions, with their number.
    var commits: [CallSite: UInt64] = [:]
}

extension SmallTransactionEvidence {
    static let parts: [SumPart<SmallTransactionEvidence>] = [
        .members(\.runs, named: ["executions": "transactions"]), .sum("implicit", \.implicit),
        .sum("reading", \.reading),
        .sum("syncTime", \.syncTime), .part("commits", \.commits),
    ]
}
