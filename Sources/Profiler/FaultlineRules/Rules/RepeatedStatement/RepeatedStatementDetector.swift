internal import FaultlineProfile
internal import FaultlineTrace

/// An open group of runs of one statement with the same values, from one line on one thread in one scope.
struct OpenRepeatedStatement: RepeatedGroup {
    struct Key: ScopedKey {
        var scope: EventID
        var thread: UInt32
        var statement: DictionaryID
        var site: CallSite?
        var parameters: UInt64
    }

    var repetition = Repetition()
    /// The rows that each run returned.
    let rows: UInt32
    var longest: UInt64 = 0
    /// The start of the last run, in nanoseconds.
    var lastStart: UInt64
    var library: StatementLibrary?

    /// The time from the start of the last run to an event's, in nanoseconds.
    func range(before event: TraceEvent) -> ClosedRange<UInt64> {
        min(lastStart, event.start)...max(lastStart, event.start)
    }

    mutating func merge(_ other: OpenRepeatedStatement) {
        repetition.merge(other.repetition)
        longest = max(longest, other.longest)
        lastStart = max(lastStart, other.lastStart)
        library = library ?? other.library
    }
}

/// Detects statements that run again with the same values although nothing was written to their tables, outside any operation
/// of an object store.
struct RepeatedStatementDetector: EvidenceDetector {
    static let name = "repeatedStatements"
    static let kinds: Set<EventKind> = [.sql]
    private static let capacity = 4096

    /// The minimum number of equal runs of a group.
    static let threshold = Threshold("R29", "minimumRuns", 3, .count, "minimum runs with the same values")

    var evidence: [StatementSite: RepeatedStatementEvidence] = [:]
    private var open = BoundedTable<OpenRepeatedStatement.Key, OpenRepeatedStatement>(capacity: capacity)
    /// The times of all writes of the process, by the tables that the statements name.
    private var writes = WriteLog()
    /// The names in statements, in lowercase, as far as they were asked for.
    private var names: [DictionaryID: Set<String>] = [:]

    mutating func observe(_ event: TraceEvent, in context: inout ProcessContext, _ tables: inout ProfileTables) {
        guard case .sql(let statement) = event.detail else { return }
        if statement.type == .read {
            observe(read: statement, event, in: &context)
        } else if Self.mayChangeRows(statement, context) {
            let sql = context.dictionary.statement(statement.statement)?.sql ?? ""
            let table = statement.type == .write ? StatementText.changed(by: sql)?.lowercased() : nil
            writes.add(table.map { [$0] }, at: event.start...max(event.start, event.end))
        }
    }

    /// The names in a statement, among which are those of the tables that it reads.
    private mutating func names(in statement: DictionaryID, _ context: ProcessContext) -> Set<String> {
        if let known = names[statement] { return known }
        if names.count == Self.capacity { names = [:] }
        let sql = context.dictionary.statement(statement)?.sql ?? ""
        let found = Set(StatementText.tokens(of: sql).filter(\.isName).map { $0.text.lowercased() })
        names[statement] = found
        return found
    }

    /// Whether a statement can change what others return: any but the beginning or the commit of a transaction.
    private static func mayChangeRows(_ statement: TraceEvent.Statement, _ context: ProcessContext) -> Bool {
        guard statement.type == .transaction else { return true }
        return context.dictionary.statement(statement.statement)?.sql.uppercased().contains("ROLLBACK") == true
    }

    mutating func finish(in context: inout ProcessContext, _ tables: inout ProfileTables) {
        evaluate(open.drain(), in: &context)
    }

    private mutating func observe(
        read statement: TraceEvent.Statement, _ event: TraceEvent, in context: inout ProcessContext
    ) {
        // The statements of a fetch belong to other rules. Without the values, equal runs cannot be told from others.
        guard event.parent == 0, statement.error == 0, statement.parameters != 0 else { return }
        let key = OpenRepeatedStatement.Key(
            scope: event.scope, thread: event.thread, statement: statement.statement,
            site: context.stackSite(of: event), parameters: statement.parameters)
        if let group = open.removeIfOver(key, before: event, pause: Repetition.longPause, in: context) {
            evaluate([(key, group)], in: &context)
        }
        if let group = open.peek(key) {
            let read = names(in: statement.statement, context)
            let isChanged = writes.mayHaveWritten(read, at: group.range(before: event))
            if isChanged, let sql = context.dictionary.statement(statement.statement)?.sql {
                var refreshed = RepeatedStatementEvidence()
                refreshed.refreshes = 1
                add(refreshed, to: StatementSite(sql: sql, site: key.site))
            }
            if isChanged || group.rows != statement.rows {
                _ = open.remove(key)
                evaluate([(key, group)], in: &context)
            }
        }
        if !open.contains(key) {
            var group = OpenRepeatedStatement(rows: statement.rows, lastStart: event.start)
            group.library = context.library(on: event.stack)
            if let evicted = open.insert(group, for: key) { evaluate([evicted], in: &context) }
        }
        open.add(event, rows: UInt64(statement.rows), to: key, in: &context) { group in
            group.longest = max(group.longest, event.timeWithoutLockWait)
            group.lastStart = event.start
        }
    }

    /// Adds groups to the evidence if they pass the threshold.
    private mutating func evaluate(
        _ open: [(key: OpenRepeatedStatement.Key, value: OpenRepeatedStatement)], in context: inout ProcessContext
    ) {
        for (key, group) in context.units(of: open) where group.repetition.executions >= Self.threshold.count {
            let repetition = group.repetition
            let time = repetition.start...max(repetition.start, group.lastStart)
            guard let sql = context.dictionary.statement(key.statement)?.sql,
                // Writes of other threads can arrive late.
                !writes.mayHaveWritten(names(in: key.statement, context), at: time)
            else { continue }
            let statement = StatementSite(sql: sql, site: key.site)
            var found = RepeatedStatementEvidence(
                repetition,
                in: surroundings(of: key.scope, for: statement, outside: repetition.wallTime, in: &context))
            found.most = repetition.executions
            found.longest = group.longest
            found.amidWrites = writes.mayHaveWritten(nil, at: time) ? 1 : 0
            found.libraries = group.library.map { [$0.rawValue] } ?? []
            add(found, to: statement)
        }
    }
}

extension Profile {
    /// Statements that ran again with the same values, outside any operation of an object store.
    var repeatedStatements: [(key: StatementSite, evidence: RepeatedStatementEvidence)] {
        evidence(of: RepeatedStatementDetector.self)
    }
}

/// Runs of one statement at one line with the same values, although nothing was written to its tables in between.
///
/// It includes only runs that passed the threshold within one scope or unit of work.
struct RepeatedStatementEvidence: RunEvidence {
    typealias Key = StatementSite

    var runs = RunSums()
    /// The most runs in one group.
    var most: UInt64 = 0
    /// The total time of each group's longest run, in nanoseconds.
    var longest: UInt64 = 0
    /// The number of groups between whose runs other tables were written.
    ///
    /// The text of a statement does not show what views, triggers and foreign keys reach, so that the result may have changed.
    var amidWrites: UInt64 = 0
    /// The runs with the same values as the one before, between which a table that the statement names was written.
    var refreshes: UInt64 = 0
}

extension RepeatedStatementEvidence {
    static let parts: [SumPart<RepeatedStatementEvidence>] = [
        .members(\.runs), .maximum("most", \.most), .sum("longest", \.longest), .sum("amidWrites", \.amidWrites),
        .sum("refreshes", \.refreshes),
    ]
}
