import FaultlineTrace

/// Combines the lines of one thread into operations.
///
/// A statement comes before its time, a fetch's total after all its statements, and the line that says what kind of
/// fetch it was comes last. Each is held until the next line shows that nothing more follows.
final class SQLDebugThread {
    /// A finished fetch whose kind another thread's line can show.
    struct Held: OptionSet, Hashable {
        let rawValue: UInt8

        /// A fetch of IDs, about which only the next line could add anything.
        static let identities = Held(rawValue: 1)
        /// A fetch that compares with no value: no later line can say that it was for a fault.
        static let whole = Held(rawValue: 2)
    }

    let writer: SQLDebugLine.Writer
    /// The process; 1 if the log names none.
    let process: UInt32
    /// The thread; 0 if the log names none.
    ///
    /// Its digits are read as hexadecimal, which keeps threads distinct either way.
    let number: UInt32
    /// The end of the last event.
    var clock: UInt64 = 0
    /// The operations that enclose the next statement: a migration, and a transaction in it.
    var enclosing: [SQLDebugTranslation.Enclosure] = []
    /// Whether the name of its program is known.
    var isNamed = false
    /// The rows that the reader knows to be held.
    var listed: Held = []

    /// SELECTs without a total so far, the outer one first.
    private var open: [Select] = []
    /// A finished fetch whose kind the next line may state.
    private var closed: Select?
    /// SELECTs that another one followed before their totals, in a log that does not tell threads apart.
    ///
    /// Totals that come after the other one's show that the two ran at the same time.
    private var unfinished: [Select] = []
    private static let maximumUnfinished = 8
    /// A statement other than a SELECT of an entity, whose time may follow.
    private var plain: Plain?
    /// The time of the current line.
    private var now: UInt64?
    private var transaction: Transaction?
    /// The request whose statements come next, as far as the log names it.
    private var request: SQLDebugAnnotation.Request?
    /// The way of the migration that is going on, as far as the log says it.
    private var migration: TraceEvent.Migration.Way?
    /// The statement of the last finished SELECT.
    private var last: LogStatement?
    /// A total whose statement is missing; the plan after it can have the text, as in excerpts of a log.
    private var orphan: (line: SQLDebugLine, time: UInt64, rows: UInt64)?
    /// A line that was held for a plan that did not follow.
    private(set) var lost: SQLDebugLine?
    /// A plan whose lines are being read, with its statement.
    private var plan: (sql: Substring, rows: [PlanEntry.Row])?

    init(_ writer: SQLDebugLine.Writer) {
        self.writer = writer
        process = max(1, writer.process)
        let number = UInt64(writer.thread, radix: 16) ?? 0
        self.number = UInt32(truncatingIfNeeded: number ^ (number >> 32))
    }

    /// Processes a line, and emits the operations that it completes.
    ///
    /// - Parameter statement: The line's text, parsed, if it is a statement.
    /// - Returns: Whether the line was understood; that includes lines without facts about statements.
    func take(
        _ line: SQLDebugLine, _ statement: LogStatement?, _ emit: (Operation) throws -> Void
    ) rethrows -> Bool {
        now = line.time
        lost = nil
        if let orphan, !line.text.begins(with: "SQLite: EXPLAIN QUERY PLAN ") || line.category != .details {
            (lost, self.orphan) = (plan == nil ? orphan.line : nil, plan == nil ? nil : orphan)
        }
        if plan != nil {
            if line.category == .details, take(planLine: line.text) { return true }
            finishPlan()
        }
        if let statement { return try take(statement, emit) }
        if line.category == .other || line.category == .annotation, let sql = Self.maintenance(line.text) {
            // It runs between the program's statements, on the queue of Core Data.
            let plain = Plain(statement: sql, type: .other, end: now)
            try emit(.statement(plain))
            return true
        }
        if line.category == .other, Self.isFailedMigration(line.text) {
            try take(.ended(nil, time: nil, hasFailed: true), emit)
            return true
        }
        switch line.category {
        case .details:
            if let sql = line.text.behind("SQLite: EXPLAIN QUERY PLAN ") { plan = (sql, []) }
            guard line.text.begins(with: "SQLite bind[") else { return true }
            guard let value = line.text.behindFirst("] = ") else { return false }
            let hash = StableHash.text(value)
            open.last?.values.append(hash)
            return true
        case .annotation:
            guard let annotation = SQLDebugAnnotation(line.text) else {
                return !SQLDebugAnnotation.measures(line.text)
            }
            if case .fetched(let time, let rows) = annotation, open.isEmpty, plain == nil {
                if isOfUnfinished { return true }
                try finishClosed(emit)
                orphan = (line, time, rows)
                return true
            }
            return try take(annotation, emit)
        case .sql, .other: return true
        }
    }

    /// The statement that a line about the maintenance of the file tells of; `nil` for other lines.
    ///
    ///     PostSaveMaintenance: incremental_vacuum with freelist_count - 24 and pages_to_free 4
    ///     WAL checkpoint: Database busy
    private static func maintenance(_ text: Substring) -> LogStatement? {
        if text.begins(with: "WAL checkpoint: ") { return LogStatement("PRAGMA wal_checkpoint") }
        let isVacuum = text.begins(with: "PostSaveMaintenance: incremental_vacuum")
        return isVacuum ? LogStatement("PRAGMA incremental_vacuum") : nil
    }

    /// Whether a line is about a store that could not be opened because it could not be migrated.
    private static func isFailedMigration(_ text: Substring) -> Bool {
        guard text.begins(with: "-addPersistentStoreWithType:") else { return false }
        let codes: [StaticString] = [
            "Code=134100", "Code=134110", "Code=134120", "Code=134130", "Code=134140", "Code=134150", "Code=134160",
            "Code=134170", "Code=134190",
        ]
        return codes.contains { text.has($0) }
    }

    /// Whether lines of a plan may follow.
    var awaitsPlan: Bool { plan != nil }

    /// Processes a line without a mark that follows one of this thread's: a line of a plan.
    ///
    /// - Returns: Whether it was one.
    func take(planLine text: Substring) -> Bool {
        guard plan != nil, let row = PlanEntry.Row(planLine: text) else { return false }
        plan?.rows.append(row)
        return true
    }

    /// The rows that the thread holds.
    var held: Held {
        guard let text = closed?.statement.select else { return [] }
        return (text.isOfIdentities ? Held.identities : []).union(text.values == 0 && open.isEmpty ? .whole : [])
    }

    /// Emits the operations that are still open at the end of the log.
    func finish(_ emit: (Operation) throws -> Void) rethrows {
        finishPlan()
        (lost, orphan) = (orphan?.line, nil)
        try finishClosed(emit)
        try finishOpen(emit)
        try finishPlain(emit)
    }

    // MARK: - Statements

    private func take(_ statement: LogStatement, _ emit: (Operation) throws -> Void) rethrows -> Bool {
        try finishClosed(emit)
        try finishPlain(emit)
        if statement.select != nil {
            // If it is not a prefetch, the previous SELECT ended without a total, or runs on another thread.
            if open.last?.awaitsPrefetch != true {
                if writer.thread.isEmpty, unfinished.count + open.count <= Self.maximumUnfinished {
                    unfinished += open
                    open = []
                } else {
                    try finishOpen(emit)
                }
            }
            let select = Select(statement, end: now)
            if let request, !request.writes {
                select.site = request.site
                self.request = nil
            }
            open.append(select)
            return true
        }
        try finishOpen(emit)
        transaction?.statements += 1
        switch statement.verb {
        case "BEGIN":
            transaction = Transaction(statements: 1, begin: now)
            // A save can have several transactions, the first of which reserves keys.
            if let request, request.writes { transaction?.site = request.site }
            plain = Plain(statement: statement, type: .transaction, end: now)
        case "COMMIT", "ROLLBACK", "END":
            // The time of COMMIT may follow, so the save is emitted with it.
            plain = Plain(statement: statement, type: .transaction, end: now)
            transaction?.end = now
            transaction?.isEnded = true
            transaction?.isKept = statement.verb != "ROLLBACK"
            if transaction?.changes.isEmpty == false { request = nil }
        case "INSERT", "UPDATE", "DELETE":
            plain = Plain(statement: statement, type: .write, rows: statement.write?.rows, end: now)
            guard let write = statement.write else { return false }
            if WriteText.isOfEntity(write.table) { note(write) }
        case "SELECT", "EXPLAIN", "WITH": plain = Plain(statement: statement, type: .read, end: now)
        default:
            plain = Plain(statement: statement, type: .schema, end: now)
            return Self.schemaVerbs.contains(statement.verb)
        }
        return true
    }

    private static let schemaVerbs: Set<String> = [
        "PRAGMA", "CREATE", "DROP", "ALTER", "VACUUM", "ANALYZE", "REINDEX", "SAVEPOINT", "RELEASE", "ATTACH", "DETACH",
        "REPLACE",
    ]

    /// Counts written rows.
    private func note(_ write: WriteText) {
        guard transaction != nil else { return }
        let next = transaction?.changes.count ?? 0
        let index = transaction?.places[write.table] ?? next
        if index == next {
            transaction?.places[write.table] = next
            transaction?.changes.append((write.table, 0, 0, 0))
        }
        guard let rows = write.rows else {
            transaction?.hasUnknownRows = true
            return
        }
        switch write.verb {
        case .insert: transaction?.changes[index].inserted += rows
        case .update: transaction?.changes[index].updated += rows
        case .delete: transaction?.changes[index].deleted += rows
        }
    }

    // MARK: - Annotations

    /// - Returns: Whether there is a statement that the annotation can describe.
    private func take(_ annotation: SQLDebugAnnotation, _ emit: (Operation) throws -> Void) rethrows -> Bool {
        switch annotation {
        case .statementTime(let time):
            if plain != nil {
                plain?.time = time
                plain?.end = now
            } else if let select = open.last {
                select.statementTime = time
                select.end = now
            } else {
                return isOfUnfinished
            }
        case .fetched(let time, let rows):
            if plain != nil, open.isEmpty {
                plain?.time = time
                plain?.rows = rows
                return true
            }
            return try close(emit) { ($0.time, $0.reportedRows) = (time, rows) }
        case .counted(let time, let count):
            return try close(emit) { ($0.time, $0.reportedRows, $0.isCount) = (time, count, true) }
        case .boundArray: open.last?.awaitsPrefetch = true
        case .prefetched(let key, let rows):
            guard let select = closed, let outer = open.last else { return false }
            closed = nil
            outer.awaitsPrefetch = false
            outer.prefetches.append(Prefetch(key: String(key), rows: rows, select: select))
        case .returned(let entity, let rows):
            // Precedes the fetch's total if there is one, and otherwise follows the fetch.
            if let select = open.last {
                select.entity = String(entity)
                select.reportedRows = rows
            } else {
                closed?.entity = String(entity)
            }
        case .counting(let entity, let count):
            guard let select = open.last else { return true }
            select.isCount = true
            if let count { select.reportedRows = count }
            if !entity.isEmpty { select.entity = String(entity) }
        case .cacheHit: break
        case .request(let next):
            try finishClosed(emit)
            request = next
        case .migration(let stage): try take(stage, emit)
        case .fault(let object):
            guard let select = closed else { return false }
            closed = nil
            try finishUnfinished(emit)
            try emit(.fault(select, entity: String(object.entity), object: StableHash.text(object.text)))
        case .toManyFault(let name, let object, let rows):
            guard let select = closed else { return false }
            closed = nil
            try finishUnfinished(emit)
            try emit(
                .toManyFault(
                    select, entity: String(object.entity), name: String(name), object: StableHash.text(object.text),
                    rows: rows))
        }
        return true
    }

    private func take(_ stage: SQLDebugAnnotation.MigrationStage, _ emit: (Operation) throws -> Void) rethrows {
        switch stage {
        case .part(let way):
            // The statements before the first line are not the migration's.
            if migration == nil {
                try finishPlain(emit)
                try emit(.migrating(now))
            }
            migration = way ?? migration ?? .inferred
        case .ended(let way, let time, let hasFailed):
            try finishPlain(emit)
            let way = way ?? migration ?? .inferred
            migration = nil
            try emit(.migrated(Migration(way: way, time: time, hasFailed: hasFailed, end: now)))
        }
    }

    /// Whether figures without an open statement are of a SELECT that ran at the same time as the last finished one.
    ///
    /// Which of them has which figures is then unknown.
    private var isOfUnfinished: Bool {
        guard let closed, !unfinished.isEmpty else { return false }
        for select in unfinished + [closed] {
            (select.statementTime, select.time, select.reportedRows) = (nil, nil, nil)
        }
        return true
    }

    /// - Returns: Whether a statement was open.
    private func close(
        _ emit: (Operation) throws -> Void, _ change: (Select) -> Void
    ) rethrows -> Bool {
        try finishClosed(emit)
        guard let select = open.popLast() else { return false }
        change(select)
        select.end = now
        closed = select
        last = select.statement
        return true
    }

    // MARK: - Ends

    /// Attaches the plan to its statement, whose text the log may have truncated.
    private func finishPlan() {
        guard let (sql, rows) = plan else { return }
        plan = nil
        guard !rows.isEmpty else { return }
        let entry = PlanEntry(rows: rows)
        let mark = sql.withBytes { $0.position(of: "<…>") ?? $0.position(of: "…") }
        let text = mark.map { String(sql[bytes: 0..<$0]) } ?? String(sql)
        guard !text.isEmpty else { return }
        if closed?.statement.sql.hasPrefix(text) == true {
            closed?.plan = entry
        } else if open.last?.statement.sql.hasPrefix(text) == true {
            open.last?.plan = entry
        } else if mark == nil, closed == nil, open.isEmpty, plain == nil, last?.sql.hasPrefix(text) != true {
            // An excerpt begins after the line with the statement, whose text the plan repeats.
            let select = Select(LogStatement(text), end: now)
            guard select.statement.select != nil else { return }
            select.plan = entry
            if let orphan {
                (select.time, select.reportedRows) = (orphan.time, orphan.rows)
                closed = select
                last = select.statement
            } else {
                open.append(select)
            }
            orphan = nil
        }
    }

    func finishClosed(_ emit: (Operation) throws -> Void) rethrows {
        guard let select = closed else { return }
        closed = nil
        try finishUnfinished(emit)
        try emit(.fetch(select))
    }

    private func finishUnfinished(_ emit: (Operation) throws -> Void) rethrows {
        let all = unfinished
        unfinished = []
        for select in all { try emit(.fetch(select)) }
    }

    private func finishOpen(_ emit: (Operation) throws -> Void) rethrows {
        try finishUnfinished(emit)
        let all = open
        open = []
        for select in all { try emit(.fetch(select)) }
    }

    private func finishPlain(_ emit: (Operation) throws -> Void) rethrows {
        guard let statement = plain else { return }
        plain = nil
        transaction?.add(statement)
        try emit(.statement(statement))
        guard let ended = transaction, ended.isEnded else { return }
        transaction = nil
        if ended.isKept, !ended.changes.isEmpty { try emit(.saved(ended)) }
    }
}
