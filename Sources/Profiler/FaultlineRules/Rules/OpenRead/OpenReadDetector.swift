internal import FaultlineProfile
internal import FaultlineTrace

/// Detects statements and transactions that read while a write-ahead log grows, outside any operation of an object store.
///
/// SQLite starts over at the beginning of the log once all of it is in the database and no connection reads from it. A read that
/// stays open prevents that (https://sqlite.org/wal.html).
struct OpenReadDetector: EvidenceDetector {
    static let name = "openReads"
    static let kinds: Set<EventKind> = [.sql]
    /// The most reads to keep until the end of the trace, when all writes are known.
    private static let capacity = 1024

    var evidence: [StatementSite: OpenReadEvidence] = [:]
    private var reads: [OpenRead] = []
    /// The open transaction of each thread.
    private var transactions = BoundedTable<UInt32, Transaction>(capacity: capacity)
    /// The logs of database files, by the paths of the files.
    private var logs: [String: LogGrowth] = [:]
    private static let mostLogs = 64
    /// The end of the last statement.
    private var last: UInt64 = 0

    private enum Transaction {
        case begun
        /// It has read, first with this statement.
        case reads(OpenRead)
        /// Its commit empties the log, as far as it can.
        case writes
    }

    mutating func observe(_ event: TraceEvent, in context: inout ProcessContext, _ tables: inout ProfileTables) {
        guard case .sql(let statement) = event.detail, event.parent == 0, statement.error == 0 else { return }
        last = max(last, event.end)
        if statement.type == .transaction { observe(transaction: statement, event, in: context) }
        var isInTransaction = false
        if statement.type == .write {
            isInTransaction = transactions.update(event.thread) { $0 = .writes } != nil
        }
        if statement.log > 0, !isInTransaction {
            let file = context.dictionary.statement(statement.statement)?.file ?? ""
            if logs[file] != nil || logs.count < Self.mostLogs {
                logs[file, default: LogGrowth()].add(statement.log, at: event.end)
            }
        }
        guard statement.type == .read, !context.isSetup(event.scope) else { return }
        let isFirst = if case .begun = transactions.peek(event.thread) { true } else { false }
        guard isFirst || statement.open > 0,
            let entry = context.dictionary.statement(statement.statement)
        else { return }
        let read = OpenRead(
            key: StatementSite(sql: entry.sql, site: context.stackSite(of: event)), file: entry.file ?? "",
            start: event.start, end: event.start &+ statement.open, scope: event.scope,
            library: context.library(on: event.stack))
        if isFirst { _ = transactions.insert(.reads(read), for: event.thread) }
        if statement.open > 0 { keep(read) }
    }

    private mutating func observe(
        transaction statement: TraceEvent.Statement, _ event: TraceEvent, in context: ProcessContext
    ) {
        guard let sql = context.dictionary.statement(statement.statement)?.sql else { return }
        switch TransactionStatement(sql) {
        case .begin:
            keep(transactions.remove(event.thread), until: event.start)
            _ = transactions.insert(.begun, for: event.thread)
        case .commit, .rollback: keep(transactions.remove(event.thread), until: event.end)
        case .savepoint, .release, .rollbackTo, nil: break
        }
    }

    /// Keeps the read of a transaction that ended, or whose connection was closed.
    private mutating func keep(_ transaction: Transaction?, until end: UInt64) {
        guard case .reads(var read) = transaction else { return }
        (read.end, read.isTransaction) = (end, true)
        keep(read)
    }

    private mutating func keep(_ read: OpenRead) {
        // The longest ones are those during which a log can grow.
        if reads.count == 2 * Self.capacity { reads = Array(reads.ordered { $0.time > $1.time }.prefix(Self.capacity)) }
        reads.append(read)
    }

    mutating func finish(in context: inout ProcessContext, _ tables: inout ProfileTables) {
        for (_, transaction) in transactions.drain() { keep(transaction, until: last) }
        for read in reads {
            guard let grown = logs[read.file]?.growth(from: read.start, to: read.end) else { continue }
            let surroundings = surroundings(of: read.scope, for: read.key, outside: read.time, in: &context)
            var found = OpenReadEvidence()
            (found.reads, found.transactions) = (1, read.isTransaction ? 1 : 0)
            (found.longest, found.growth, found.log) = (read.time, grown.growth, grown.end)
            found.libraries = read.library.map { [$0.rawValue] } ?? []
            (found.scopes, found.wallTime) = (surroundings.scopes, surroundings.wallTime)
            add(found, to: read.key)
        }
    }
}

/// A read and the time for which it was open.
private struct OpenRead {
    var key: StatementSite
    /// The path of the database file, or nothing if it is not known.
    var file: String
    var start: UInt64
    var end: UInt64
    var scope: EventID
    var library: StatementLibrary?
    /// Whether a transaction kept it open after the statement had ended.
    var isTransaction = false

    var time: UInt64 { end &- min(start, end) }
}

/// The length of a write-ahead log after commits.
struct LogGrowth {
    /// The size beyond which SQLite moves the log into the database at each commit: 1,000 pages of 4 KiB by default
    /// (https://sqlite.org/pragma.html#pragma_wal_autocheckpoint).
    static let checkpoint: UInt64 = 4_096_000
    private static let capacity = 4096

    private var samples: [(time: UInt64, size: UInt64)] = []

    mutating func add(_ size: UInt64, at time: UInt64) {
        if let last = samples.last, size >= last.size, size - last.size < Self.checkpoint / 8 { return }
        if samples.count == Self.capacity { samples.removeFirst(Self.capacity / 2) }
        samples.append((time, size))
    }

    /// The growth of the log within a time although it was long enough to be reset, and its length then; `nil` if it did
    /// not grow.
    ///
    /// The commit that makes it long enough does not count, because a single transaction can be long.
    func growth(from start: UInt64, to end: UInt64) -> (growth: UInt64, end: UInt64)? {
        var most: (growth: UInt64, end: UInt64)?
        var first: UInt64?
        var last: UInt64 = 0
        for sample in samples where sample.time > start && sample.time <= end {
            if sample.size < last { first = nil }
            last = sample.size
            guard sample.size >= Self.checkpoint else { continue }
            let begin = first ?? sample.size
            first = begin
            if sample.size - begin > most?.growth ?? 0 { most = (sample.size - begin, sample.size) }
        }
        return most
    }
}

extension Profile {
    /// Reads that were open while a write-ahead log grew, outside any operation of an object store.
    var openReads: [(key: StatementSite, evidence: OpenReadEvidence)] {
        evidence(of: OpenReadDetector.self)
    }
}

/// The reads of one statement at one line during which a write-ahead log grew beyond the size at which SQLite resets it.
struct OpenReadEvidence: Summed, StartsEmpty {
    var reads: UInt64 = 0
    /// Those of them that a transaction kept open.
    var transactions: UInt64 = 0
    /// The time for which the longest one was open, in nanoseconds.
    var longest: UInt64 = 0
    /// The most that the log grew during one of them, and its greatest length, in bytes.
    var growth: UInt64 = 0
    var log: UInt64 = 0
    var libraries: Set<String> = []
    var scopes: [ScopeSummary.Key: UInt64] = [:]
    var wallTime: UInt64 = 0
}

extension OpenReadEvidence {
    static let parts: [SumPart<OpenReadEvidence>] = [
        .sum("reads", \.reads), .sum("transactions", \.transactions), .maximum("longest", \.longest),
        .maximum("growth", \.growth), .maximum("log", \.log), .union("libraries", \.libraries),
        .part("scopes", \.scopes), .sum("wallTime", \.wallTime),
    ]
}
