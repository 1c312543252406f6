import FaultlineTrace

/// Combines the lines of one thread into operations.
///
/// A statement comes before its time, a fetch's total after all its statements, and the line that says what kind of
/// fetch it was comes last. Each is held until the next line shows that nothing more follows.
struct SQLDebugThread {
    /// A SELECT, with the facts from the lines after it.
    struct Select {
        var sql: String
        /// Hashes of the bound values.
        var values: [UInt64] = []
        /// The time of SQLite, and the total including prefetches, in nanoseconds; `nil` if the log lacks it.
        var statementTime: UInt64?
        var time: UInt64?
        var reportedRows: UInt64?
        var rows: UInt64 { reportedRows ?? 0 }
        var entity: String?
        var isCount = false
        /// Whether the next SELECT is a prefetch of this one.
        var awaitsPrefetch = false
        var prefetches: [Prefetch] = []
        /// SQLite's plan; `nil` if the log lacks it.
        var plan: PlanEntry?
        /// The time of the last line about it; `nil` if the log has no times.
        var end: UInt64?
    }

    struct Prefetch {
        var key: String
        var rows: UInt64
        var select: Select
    }

    /// A completed operation with all its facts.
    enum Operation {
        case fetch(Select)
        case fault(Select, entity: String, object: UInt64)
        case toManyFault(Select, entity: String, name: String, object: UInt64, rows: UInt64)
        case statement(Plain)
        case saved(Transaction)
    }

    /// A statement other than a SELECT of an entity.
    struct Plain {
        var sql: String
        var type: TraceEvent.Statement.StatementType
        /// The duration in nanoseconds; `nil` if the log lacks it.
        var time: UInt64?
        var rows: UInt64?
        var end: UInt64?
    }

    /// The changes between BEGIN and COMMIT.
    struct Transaction {
        /// Tables of entities with their inserted, updated and deleted rows, in order of appearance.
        var changes: [(table: String, inserted: UInt64, updated: UInt64, deleted: UInt64)] = []
        /// Whether some statements do not show how many rows they wrote.
        var hasUnknownRows = false
        var statements: UInt32 = 0
        var begin: UInt64?
        var end: UInt64?
    }

    /// SELECTs without a total so far, the outer one first.
    private var open: [Select] = []
    /// A finished fetch whose kind the next line may state.
    private var closed: Select?
    /// A statement other than a SELECT of an entity, whose time may follow.
    private var plain: Plain?
    /// The time of the current line.
    private var now: UInt64?
    private var transaction: Transaction?
    /// A plan whose lines are being read, with its statement.
    private var plan: (sql: String, rows: [PlanEntry.Row])?

    /// Processes a line, and emits the operations that it completes.
    ///
    /// - Returns: Whether the line was understood; that includes lines without facts about statements.
    mutating func take(_ line: SQLDebugLine, _ emit: (Operation) throws -> Void) rethrows -> Bool {
        now = line.time
        if plan != nil {
            if line.category == "details", take(planLine: line.text) { return true }
            finishPlan()
        }
        switch line.category {
        case "sql": return try take(sql: String(line.text), emit)
        case "details":
            if let sql = line.text.behind("SQLite: EXPLAIN QUERY PLAN ") { plan = (String(sql), []) }
            guard line.text.hasPrefix("SQLite bind[") else { return true }
            guard let value = line.text.firstRange(of: "] = ") else { return false }
            let hash = StableHash.text(line.text[value.upperBound...])
            if !open.isEmpty { open[open.count - 1].values.append(hash) }
            return true
        case "annotation":
            guard let annotation = SQLDebugAnnotation(line.text) else {
                return !SQLDebugAnnotation.measures(line.text)
            }
            return try take(annotation, emit)
        default: return true
        }
    }

    /// Whether lines of a plan may follow.
    var awaitsPlan: Bool { plan != nil }

    /// Processes a line without a mark that follows one of this thread's: a line of a plan.
    ///
    /// - Returns: Whether it was one.
    mutating func take(planLine text: Substring) -> Bool {
        guard plan != nil, let row = PlanEntry.Row(planLine: text) else { return false }
        plan?.rows.append(row)
        return true
    }

    /// Emits the operations that are still open at the end of the log.
    mutating func finish(_ emit: (Operation) throws -> Void) rethrows {
        finishPlan()
        try finishClosed(emit)
        try finishOpen(emit)
        try finishPlain(emit)
    }
    // MARK: Statements

    private mutating func take(sql: String, _ emit: (Operation) throws -> Void) rethrows -> Bool {
        try finishClosed(emit)
        try finishPlain(emit)
        let verb = sql.prefix { $0.isLetter }.uppercased()
        if verb == "SELECT", SelectText.isOfEntity(sql) {
            // If it is not a prefetch, the previous SELECT ended without a total.
            if open.last?.awaitsPrefetch != true { try finishOpen(emit) }
            open.append(Select(sql: sql, end: now))
            return true
        }
        try finishOpen(emit)
        transaction?.statements += 1
        switch verb {
        case "BEGIN":
            transaction = Transaction(statements: 1, begin: now)
            plain = Plain(sql: sql, type: .transaction, end: now)
        case "COMMIT", "ROLLBACK", "END":
            transaction?.end = now
            plain = Plain(sql: sql, type: .transaction, end: now)
            try finishPlain(emit)
            if let transaction, verb != "ROLLBACK", !transaction.changes.isEmpty { try emit(.saved(transaction)) }
            transaction = nil
        case "INSERT", "UPDATE", "DELETE":
            let write = WriteText(sql)
            plain = Plain(sql: sql, type: .write, rows: write?.rows, end: now)
            guard let write else { return false }
            if WriteText.isOfEntity(write.table) { note(write) }
        case "SELECT", "EXPLAIN", "WITH": plain = Plain(sql: sql, type: .read, end: now)
        default:
            plain = Plain(sql: sql, type: .schema, end: now)
            return Self.schemaVerbs.contains(verb)
        }
        return true
    }

    private static let schemaVerbs: Set<String> = [
        "PRAGMA", "CREATE", "DROP", "ALTER", "VACUUM", "ANALYZE", "REINDEX", "SAVEPOINT", "RELEASE", "ATTACH", "DETACH",
        "REPLACE",
    ]

    /// Counts written rows.
    private mutating func note(_ write: WriteText) {
        guard transaction != nil else { return }
        let known = transaction?.changes.firstIndex { $0.table == write.table }
        if known == nil { transaction?.changes.append((write.table, 0, 0, 0)) }
        let index = known ?? (transaction?.changes.count ?? 1) - 1
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

    // MARK: Annotations

    /// - Returns: Whether there is a statement that the annotation can describe.
    private mutating func take(_ annotation: SQLDebugAnnotation, _ emit: (Operation) throws -> Void) rethrows -> Bool {
        switch annotation {
        case .statementTime(let time):
            if plain != nil {
                plain?.time = time
                plain?.end = now
            } else if !open.isEmpty {
                open[open.count - 1].statementTime = time
                open[open.count - 1].end = now
            } else {
                return false
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
        case .boundArray: if !open.isEmpty { open[open.count - 1].awaitsPrefetch = true }
        case .prefetched(let key, let rows):
            guard let select = closed, !open.isEmpty else { return false }
            closed = nil
            open[open.count - 1].awaitsPrefetch = false
            open[open.count - 1].prefetches.append(Prefetch(key: String(key), rows: rows, select: select))
        case .returned(let entity, let rows):
            // Precedes the fetch's total if there is one, and otherwise follows the fetch.
            if !open.isEmpty {
                open[open.count - 1].entity = String(entity)
                open[open.count - 1].reportedRows = rows
            } else {
                closed?.entity = String(entity)
            }
        case .counting(let entity, let count):
            guard !open.isEmpty else { return true }
            open[open.count - 1].isCount = true
            if let count { open[open.count - 1].reportedRows = count }
            if !entity.isEmpty { open[open.count - 1].entity = String(entity) }
        case .cacheHit: break
        case .fault(let object):
            guard let select = closed else { return false }
            closed = nil
            try emit(.fault(select, entity: String(object.entity), object: StableHash.text(object.text)))
        case .toManyFault(let name, let object, let rows):
            guard let select = closed else { return false }
            closed = nil
            try emit(
                .toManyFault(
                    select, entity: String(object.entity), name: String(name), object: StableHash.text(object.text),
                    rows: rows))
        }
        return true
    }

    /// - Returns: Whether a statement was open.
    private mutating func close(
        _ emit: (Operation) throws -> Void, _ change: (inout Select) -> Void
    ) rethrows -> Bool {
        try finishClosed(emit)
        guard var select = open.popLast() else { return false }
        change(&select)
        select.end = now
        closed = select
        return true
    }

    // MARK: Ends

    /// Attaches the plan to its statement, whose text the log may have truncated.
    private mutating func finishPlan() {
        guard let (sql, rows) = plan else { return }
        plan = nil
        guard !rows.isEmpty else { return }
        let entry = PlanEntry(rows: rows)
        let mark = sql.firstRange(of: "<…>") ?? sql.firstRange(of: "…")
        let text = mark.map { String(sql[..<$0.lowerBound]) } ?? sql
        guard !text.isEmpty else { return }
        if closed?.sql.hasPrefix(text) == true {
            closed?.plan = entry
        } else if open.last?.sql.hasPrefix(text) == true {
            open[open.count - 1].plan = entry
        }
    }

    /// Emits a finished fetch of IDs, about which only the next line could add anything.
    mutating func finishIdentities(_ emit: (Operation) throws -> Void) rethrows {
        guard let sql = closed?.sql, SelectText.ofIdentities.contains(where: { sql.hasPrefix($0 + " FROM ") }) else {
            return
        }
        try finishClosed(emit)
    }

    /// Emits a finished fetch that compares with no value: no later line can say that it was for a fault.
    mutating func finishWhole(_ emit: (Operation) throws -> Void) rethrows {
        guard open.isEmpty, closed?.sql.contains("?") == false else { return }
        try finishClosed(emit)
    }

    mutating func finishClosed(_ emit: (Operation) throws -> Void) rethrows {
        guard let select = closed else { return }
        closed = nil
        try emit(.fetch(select))
    }

    private mutating func finishOpen(_ emit: (Operation) throws -> Void) rethrows {
        let all = open
        open = []
        for select in all { try emit(.fetch(select)) }
    }

    private mutating func finishPlain(_ emit: (Operation) throws -> Void) rethrows {
        guard let statement = plain else { return }
        plain = nil
        try emit(.statement(statement))
    }
}
