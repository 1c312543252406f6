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
    /// The time waiting for the disk, in nanoseconds.
    var syncTime: UInt64 = 0
    var library: StatementLibrary?

    mutating func merge(_ other: OpenSmallTransactions) {
        repetition.merge(other.repetition)
        implicit &+= other.implicit
        syncTime &+= other.syncTime
        library = library ?? other.library
    }
}

/// Detects transactions that write little and follow one another, outside any operation of an object store.
///
/// A statement does not name its connection, so the statements of a thread count as those of one.
struct SmallTransactionDetector: EvidenceDetector {
    static let name = "smallTransactions"
    static let kinds: Set<EventKind> = [.sql]
    static let wallTime: (any WritableKeyPath<SmallTransactionEvidence, UInt64> & Sendable)? =
        \SmallTransactionEvidence.wallTime
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
            add(statement.statement, of: event, rows: UInt64(statement.rows), isImplicit: true, in: &context)
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
        add(whole.statement, of: whole.event, rows: done.rows, isImplicit: false, in: &context)
    }

    private mutating func add(
        _ statement: DictionaryID, of event: TraceEvent, rows: UInt64, isImplicit: Bool,
        in context: inout ProcessContext
    ) {
        let key = OpenSmallTransactions.Key(
            scope: event.scope, thread: event.thread, statement: statement, site: context.stackSite(of: event))
        if let group = open.removeIfOver(key, before: event, pause: Repetition.statementPause, in: context) {
            evaluate([(key, group)], in: &context)
        }
        if !open.contains(key) {
            var group = OpenSmallTransactions()
            group.library = context.library(on: event.stack)
            if let evicted = open.insert(group, for: key) { evaluate([evicted], in: &context) }
        }
        var syncTime: UInt64 = 0
        if case .sql(let statement) = event.detail { syncTime = statement.syncTime }
        open.add(event, rows: rows, to: key, in: &context) {
            $0.implicit &+= isImplicit ? 1 : 0
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
            found.transactions = repetition.executions
            found.implicit = group.implicit
            found.syncTime = group.syncTime
            found.libraries = group.library.map { [$0.rawValue] } ?? []
            add(found, to: statement)
        }
    }
}

extension Profile {
    /// Small transactions that followed one another, outside any operation of an object store.
    public var smallTransactions: [(key: StatementSite, evidence: SmallTransactionEvidence)] {
        evidence(of: SmallTransactionDetector.self)
    }
}
