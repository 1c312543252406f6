internal import FaultlineFindings
internal import FaultlineProfile
internal import FaultlineTrace

/// An open group of runs of one statement from one line on one thread in one scope.
struct OpenStatementLoop: RepeatedGroup {
    struct Key: ScopedKey {
        var scope: EventID
        var thread: UInt32
        /// The tasks of an event loop take turns on a thread.
        var task: UInt32
        var statement: DictionaryID
        var site: CallSite?
    }

    var repetition = Repetition()
    /// The statement whose rows the loop may go through.
    var origin: Origin?
    var library: StatementLibrary?
    /// The table that the statement reads, in lowercase.
    var table: String?
    /// Whether SQLAlchemy reads objects again because they expired.
    var readsExpired = false
    /// The runs after which the next statement of the thread inserted a row into the same table, or updated one.
    var insertions: UInt64 = 0
    var updates: UInt64 = 0
    /// The hashes of the runs' values, at most two; 0 if the trace does not have them.
    private(set) var values: Set<UInt64> = []

    /// Whether all runs had the same values.
    ///
    /// Such runs do not depend on the rows of another statement.
    var hasOneValue: Bool { values.count == 1 && !values.contains(0) }

    mutating func observe(values hash: UInt64) {
        if values.count < 2 { values.insert(hash) }
    }

    struct Origin {
        var statement: StatementSite
        var rows: UInt64
        /// The run that returned them, and when it ended.
        var run: EventID
        var end: UInt64
        /// Whether it was being stepped through while the loop ran.
        var isOpen = false

        /// Whether so many runs can be the work on its rows: a loop goes through rows at most once, and a mapper keeps
        /// rows that it read before.
        func explains(_ runs: UInt64) -> Bool { rows >= runs && (isOpen || runs &* 5 >= rows) }
    }

    mutating func merge(_ other: OpenStatementLoop) {
        repetition.merge(other.repetition)
        if let found = other.origin, found.rows > origin?.rows ?? 0 { origin = found }
        library = library ?? other.library
        readsExpired = readsExpired && other.readsExpired
        insertions &+= other.insertions
        updates &+= other.updates
        for hash in other.values { observe(values: hash) }
    }
}

/// Detects a statement that a program runs again and again, and the rows for each of which it does.
struct StatementLoopDetector: EvidenceDetector {
    static let name = "statementLoops"
    static let kinds: Set<EventKind> = [.sql]
    private static let capacity = 4096

    /// The minimum number of runs of a loop.
    static let threshold = Threshold("R27", "minimumRuns", 5, .count, "minimum runs of a loop")

    var evidence: [StatementSite: StatementLoopEvidence] = [:]
    private var open = BoundedTable<OpenStatementLoop.Key, OpenStatementLoop>(capacity: capacity)
    /// The last different statements of each thread that returned several rows, the last one at the end.
    private var lists: [UInt32: [OpenStatementLoop.Origin]] = [:]
    /// The groups that each thread added to last.
    private var recent: [UInt32: [OpenStatementLoop.Key]] = [:]
    /// The group of each thread's last statement, until a write follows it.
    private var latest = BoundedTable<UInt32, OpenStatementLoop.Key>(capacity: capacity)
    /// What statements write, as far as it was asked for.
    private var written: [DictionaryID: (table: String, isInsertion: Bool)?] = [:]
    /// The tables that statements read, in lowercase, as far as they were asked for.
    private var read: [DictionaryID: String?] = [:]
    /// The last run of an origin whose rows the evidence of a statement counts.
    private var counted: [StatementSite: EventID] = [:]

    /// The maximum time from a list to the loop over its rows, in nanoseconds.
    private static let patience: UInt64 = 500_000_000
    private static let recentGroups = 8
    private static let recentLists = 4

    mutating func observe(_ event: TraceEvent, in context: inout ProcessContext, _ tables: inout ProfileTables) {
        // The statements of a fetch or a save belong to other rules.
        guard case .sql(let statement) = event.detail, event.parent == 0, statement.error == 0,
            statement.type == .read || statement.type == .write,
            let sql = context.dictionary.statement(statement.statement)?.sql
        else { return }
        if statement.type == .write { return observeWrite(statement.statement, sql, on: event.thread) }
        let site = context.stackSite(of: event)
        let key = OpenStatementLoop.Key(
            scope: event.scope, thread: event.thread, task: context.activation(of: event)?.task ?? 0,
            statement: statement.statement, site: site)
        if let loop = open.removeIfLeft(key, before: event, in: &context) {
            evaluate([(key, loop)], in: &context)
        }
        let own = StatementSite(sql: sql, site: site)
        add(statement, event, to: key, own, in: &context)
        if statement.rows > 1 { observeList(own, statement, event, key) }
    }

    mutating func finish(in context: inout ProcessContext, _ tables: inout ProfileTables) {
        evaluate(open.drain(), in: &context)
    }

    private mutating func table(of statement: DictionaryID, _ sql: String) -> String? {
        if let known = read[statement] { return known }
        if read.count == Self.capacity { read = [:] }
        let table = StatementText(sql).table?.lowercased()
        read[statement] = .some(table)
        return table
    }

    /// Records a write right after a run that read the same table.
    private mutating func observeWrite(_ statement: DictionaryID, _ sql: String, on thread: UInt32) {
        guard let key = latest.remove(thread) else { return }
        if written[statement] == nil {
            if written.count == Self.capacity { written = [:] }
            written[statement] = .some(StatementText.written(by: sql).map { ($0.table.lowercased(), $0.isInsertion) })
        }
        guard case .some(.some(let write)) = written[statement] else { return }
        open.update(key, isUse: false) { loop in
            guard loop.table == write.table else { return }
            if write.isInsertion { loop.insertions &+= 1 } else { loop.updates &+= 1 }
        } ?? ()
    }

    private mutating func add(
        _ statement: TraceEvent.Statement, _ event: TraceEvent, to key: OpenStatementLoop.Key,
        _ own: StatementSite, in context: inout ProcessContext
    ) {
        if !open.contains(key) {
            var loop = OpenStatementLoop()
            loop.origin = lists[event.thread]?.last { $0.statement != own && $0.end &+ Self.patience > event.start }
            loop.library = context.library(on: event.stack)
            loop.table = table(of: key.statement, own.sql)
            loop.readsExpired = loop.library == .sqlAlchemy && context.readsExpired(on: event.stack)
            if let evicted = open.insert(loop, for: key) { evaluate([evicted], in: &context) }
        }
        open.add(event, rows: UInt64(statement.rows), to: key, in: &context) {
            $0.observe(values: statement.parameters)
        }
        _ = latest.insert(key, for: event.thread)
        var keys = recent[event.thread] ?? []
        if keys.last != key {
            keys.removeAll { $0 == key }
            keys.append(key)
            recent[event.thread] = keys.suffix(Self.recentGroups)
        }
    }

    /// Records a statement whose rows later statements may go through, or earlier ones did.
    ///
    /// Events of a thread arrive in the order in which they ended. So a statement that began before those of a loop, and
    /// arrives after them, was being stepped through meanwhile.
    private mutating func observeList(
        _ list: StatementSite, _ statement: TraceEvent.Statement, _ event: TraceEvent, _ own: OpenStatementLoop.Key
    ) {
        var origin = OpenStatementLoop.Origin(
            statement: list, rows: UInt64(statement.rows), run: event.id, end: event.start &+ event.duration)
        var known = (lists[event.thread] ?? []).filter { $0.statement != list }
        // A statement that loops is no list: the list is still the one that its loop goes through.
        let isLoop = open.read(own) { $0.repetition.executions >= Self.threshold.count } ?? false
        if !isLoop { known.append(origin) }
        lists[event.thread] = known.suffix(Self.recentLists)
        origin.isOpen = true
        for key in recent[event.thread] ?? [] where key != own {
            open.update(key, isUse: false) { loop in
                if !isLoop, loop.repetition.start >= event.start {
                    loop.origin = origin
                } else if loop.origin?.statement == list {
                    // A loop around another one runs its statement again, and the inner loop goes through these rows, too.
                    loop.origin?.rows &+= origin.rows
                }
            } ?? ()
        }
    }

    /// Adds loops to the evidence if they pass the threshold.
    private mutating func evaluate(
        _ open: [(key: OpenStatementLoop.Key, value: OpenStatementLoop)], in context: inout ProcessContext
    ) {
        for (key, loop) in context.units(of: open) where loop.repetition.executions >= Self.threshold.count {
            // R29 evaluates runs that all have the same values.
            guard !loop.hasOneValue, let sql = context.dictionary.statement(key.statement)?.sql else { continue }
            let statement = StatementSite(sql: sql, site: key.site)
            let repetition = loop.repetition
            var found = StatementLoopEvidence(
                repetition,
                in: surroundings(of: key.scope, for: statement, outside: repetition.wallTime, in: &context))
            if let origin = loop.origin, origin.explains(repetition.executions), origin.statement.sql != sql {
                // A pause can split the loop over the rows of one run.
                let last = counted.updateValue(origin.run, forKey: statement)
                found.origins = [origin.statement: last == origin.run ? 0 : origin.rows]
            }
            found.expiredOccurrences = loop.readsExpired ? 1 : 0
            (found.insertions, found.updates) = (loop.insertions, loop.updates)
            found.libraries = loop.library.map { [$0.rawValue] } ?? []
            add(found, to: statement)
        }
    }
}

extension Profile {
    /// Statements that ran in a loop, outside any operation of an object store.
    var statementLoops: [(key: StatementSite, evidence: StatementLoopEvidence)] {
        evidence(of: StatementLoopDetector.self)
    }
}

/// Consecutive runs of one statement at one line, outside any operation of an object store.
///
/// It includes only runs that passed the threshold within one scope or unit of work.
struct StatementLoopEvidence: RunEvidence {
    typealias Key = StatementSite

    var runs = RunSums()
    /// The number of loops in which SQLAlchemy read objects again because they had expired.
    var expiredOccurrences: UInt64 = 0
    /// The runs after which the program inserted a row into the same table, or updated one.
    var insertions: UInt64 = 0
    var updates: UInt64 = 0
    /// The statements whose rows the loops went through, with the number of these rows.
    var origins: [StatementSite: UInt64] = [:]
}

extension StatementLoopEvidence {
    /// Whether SQLAlchemy read objects again because they had expired, in all loops.
    var readsExpired: Bool { expiredOccurrences > 0 && expiredOccurrences == runs.occurrences }

    /// The time that all runs but one per loop take, in nanoseconds.
    ///
    /// One statement reads the same rows, which takes it part of the time in SQLite.
    var savedTime: Saving.Range {
        let saved = 1 - Double(runs.occurrences) / Double(max(1, runs.executions))
        let (time, overhead) = (Double(runs.time) * max(0, saved), Double(runs.overhead))
        return .init(median: overhead + time / 2, low: overhead, high: overhead + time)
    }
}

extension StatementLoopEvidence {
    static let parts: [SumPart<StatementLoopEvidence>] = [
        .members(\.runs), .sum("expiredOccurrences", \.expiredOccurrences), .part("origins", \.origins),
        .sum("insertions", \.insertions), .sum("updates", \.updates),
    ]
}
