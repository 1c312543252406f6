import FaultlineTrace

/// Converts a log's operations to events, in three passes.
///
/// Events take the time of their lines; without times, they follow one another. Faults are assigned to the fetch that
/// can have loaded their objects, because the log does not name it.
final class SQLDebugTranslation {
    /// The maximum time, in nanoseconds since the log began: a hundred days.
    private static let latest: UInt64 = 100 * 86_400_000_000_000

    /// Entities by table, if the log names both.
    private var entities: [String: String] = [:]
    private(set) var names = EntryTable()
    private var batched = BatchedFetches()
    private var origins = FaultOrigins()
    /// Tables by the entities of their objects.
    private var tables: [String: String] = [:]

    /// The statements that write and the commits, and those among them whose time the log has.
    private var writes = (all: 0, timed: 0)
    /// Whether the log has the times of all writes, and there are any.
    var hasWriteTimes: Bool { writes.all > 0 && writes.timed == writes.all }
    /// Whether names of entities are derived from those of tables.
    private(set) var hasDerivedNames = false
    /// The tables of operations that do not name their entities.
    private var unnamed: Set<String> = []
    /// The places of the operations that begin a save or a migration which the log completes.
    private var enclosures: Set<Int> = []

    // The state that each pass resets.
    /// Events of the fetches that loaded the objects of faults, by their places among the operations.
    private var fetches: [Int: EventID] = [:]
    /// The number of operations so far.
    private var position = 0
    private var lastEvent: EventID = 0
    private(set) var end: UInt64 = 0

    /// Begins a pass: the operations start again from the first.
    func begin() {
        (fetches, position, lastEvent, end) = ([:], 0, 0, 0)
        batched.begin()
    }

    // MARK: - Names

    func learn(_ operation: SQLDebugThread.Operation, of thread: SQLDebugThread) {
        position += 1
        begin(operation, of: thread)
        defer { end(operation, of: thread).map { _ = enclosures.insert($0.position) } }
        switch operation {
        case .fetch(let select): if let text = select.statement.select { learn(select, text, of: thread) }
        case .fault(let select, let entity, let object):
            let table = select.statement.select?.table ?? table(of: entity)
            tables[entity] = table
            origins.add(FaultOrigins.Kind(writer: thread.writer, table: table), object: object, at: position)
        case .toManyFault(let select, let entity, let name, let object, let rows):
            origins.add(
                FaultOrigins.Kind(writer: thread.writer, table: table(of: entity), relationship: name), object: object,
                at: position, led: select.statement.select.map { ($0.table, rows) })
        case .statement(let plain):
            if plain.type == .write { countWrite(isTimed: plain.time != nil) }
        case .saved(let transaction):
            countWrite(isTimed: transaction.commit != nil)
            unnamed.formUnion(transaction.changes.map(\.table))
        case .migrating, .migrated: break
        }
        let entity: String? =
            switch operation {
            case .fetch(let select): select.entity
            case .fault(_, let entity, _), .toManyFault(_, let entity, _, _, _): entity
            case .statement, .saved, .migrating, .migrated: nil
            }
        // The table of an inheritance tree is named after its root, and keeps its own name.
        if let entity { entities["Z" + entity.uppercased()] = entity }
    }

    private func countWrite(isTimed: Bool) { writes = (writes.all + 1, writes.timed + (isTimed ? 1 : 0)) }

    /// Ends the first pass.
    func finishLearning() {
        origins.finish()
        hasDerivedNames = unnamed.contains { entities[$0] == nil }
        unnamed = []
    }

    private func learn(_ select: SQLDebugThread.Select, _ text: SelectText, of thread: SQLDebugThread) {
        let batch = batched.learn(select, text, at: position, of: thread.process)
        if let entity = select.entity { tables[entity] = text.table } else { unnamed.insert(text.table) }
        if let batch {
            origins.addBatch(of: batch, columns: text.columns)
        } else if !select.isCount, select.rows > 0 {
            origins.add(FaultOrigins.Fetch(position: position, writer: thread.writer, text, rows: select.rows))
        }
    }

    /// The table of an entity's objects, which is the root entity's if the log shows it.
    private func table(of entity: String) -> String { tables[entity] ?? "Z" + entity.uppercased() }

    /// The entity of a table, from the table's name if the log does not state it: `Item` for `ZITEM`.
    private func entityName(_ table: String) -> String {
        if let known = entities[table] { return known }
        guard table.hasPrefix("Z"), table.utf8.count > 1 else { return table }
        return String(table.dropFirst().prefix(1)) + table.dropFirst(2).lowercased()
    }

    private func site(_ site: SiteEntry?) -> DictionaryID { site.map { names.id(.site($0)) } ?? 0 }

    private func entity(_ name: String) -> DictionaryID { names.id(.entity(EntityEntry(name: name))) }

    // MARK: - Saves and migrations

    /// Notes an operation that may begin a save or a migration.
    private func begin(_ operation: SQLDebugThread.Operation, of thread: SQLDebugThread) {
        let (isMigration, time): (Bool, UInt64?)
        switch operation {
        case .migrating(let now):
            thread.enclosing = []
            (isMigration, time) = (true, now)
        case .statement(let plain) where plain.statement.verb == "BEGIN":
            if thread.enclosing.last?.isMigration == false { thread.enclosing.removeLast() }
            (isMigration, time) = (false, plain.end)
        default: return
        }
        var enclosure = Enclosure(position: position, isMigration: isMigration)
        enclosure.start = min(Self.latest, max(thread.clock, time ?? 0))
        if enclosures.contains(position), isMigration || thread.enclosing.allSatisfy({ $0.event == 0 }) {
            lastEvent += 1
            enclosure.event = lastEvent
        }
        thread.enclosing.append(enclosure)
    }

    /// The part of a migration that a statement is, if its time is known.
    private func migrationPart(
        _ plain: SQLDebugThread.Plain, _ thread: SQLDebugThread
    ) -> TraceEvent.Migration? {
        guard plain.time != nil, thread.enclosing.last(where: { $0.event != 0 })?.isMigration == true else {
            return nil
        }
        var part = TraceEvent.Migration()
        let words = plain.statement.sql.split(separator: " ", maxSplits: 3).map { $0.uppercased() }
        let isIndex = words.count > 1 && words[0] == "CREATE" && words.contains("INDEX")
        part.stage = isIndex ? .index : .rows
        let altered = words.count > 2 && words[0] == "ALTER" ? words[2] : nil
        if let table = plain.statement.write?.table ?? altered {
            part.name = names.id(.name(NameEntry(name: entityName(table))))
        }
        return part
    }

    /// Removes and returns the save or the migration that an operation ends.
    private func end(_ operation: SQLDebugThread.Operation, of thread: SQLDebugThread) -> Enclosure? {
        let isMigration: Bool
        switch operation {
        case .saved: isMigration = false
        case .migrated: isMigration = true
        default: return nil
        }
        guard let index = thread.enclosing.lastIndex(where: { $0.isMigration == isMigration }) else { return nil }
        let enclosure = thread.enclosing[index]
        thread.enclosing.removeSubrange(index...)
        return enclosure
    }

    // MARK: - Events

    func translate(
        _ operation: SQLDebugThread.Operation, of thread: SQLDebugThread,
        _ emit: (TraceEvent) throws -> Void
    ) throws {
        position += 1
        begin(operation, of: thread)
        switch operation {
        case .fetch(let select):
            let text = select.statement.select
            let name = name(of: select, text)
            if let text, let fetch = batched.take(select, text, of: thread.process) {
                try give(.batch(batch(select, name, of: fetch)), of: select, thread, emit)
                return
            }
            let fetch = self.fetch(select, text, name)
            let event = try give(.fetch(fetch), of: select, thread, emit)
            if let text, text.isOfIdentities, !select.isCount {
                batched.remember(
                    .init(position: position, event: event.id, shape: fetch.shape, rows: select.rows), text.table,
                    of: thread.process)
            }
            if origins.isOrigin(position) { fetches[position] = event.id }
        case .fault(let select, let entity, let object):
            var fault = self.fault(entity, object, filled: 1)
            fault.type = .object
            try emit(
                event(.fault(fault), select.duration, thread, select.end) {
                    try statement(select, $0, thread, $1, emit)
                })
        case .toManyFault(let select, let entity, let name, let object, let rows):
            var fault = self.fault(entity, object, filled: rows)
            fault.type = .toMany
            fault.relationshipEntity = fault.entity
            fault.relationship = names.id(.name(NameEntry(name: name)))
            try emit(
                event(.fault(fault), select.duration, thread, select.end) {
                    try statement(select, $0, thread, $1, emit)
                })
        case .statement(let plain):
            let statement = statement(plain.statement, plain.type, rows: plain.rows ?? 0)
            let part = migrationPart(plain, thread)
            if part != nil { lastEvent += 1 }
            let id = lastEvent
            var event = event(.sql(statement), plain.time, thread, plain.end) { _, _ in }
            if plain.rows == nil, plain.type == .read || plain.type == .write { event.unrecorded.insert(.rows) }
            guard let part else { return try emit(event) }
            var whole = event
            (whole.id, whole.detail, whole.unrecorded) = (id, .migration(part), [])
            event.parent = id
            try emit(event)
            try emit(whole)
        case .saved(let transaction):
            guard let enclosure = end(operation, of: thread), enclosure.event != 0 else { return }
            var save = TraceEvent.Save()
            save.trips = transaction.statements
            save.commit = transaction.commit ?? 0
            save.isBatchRequest = transaction.hasUnknownRows
            save.entities = transaction.changes.map { change in
                TraceEvent.Save.Change(
                    entity: entity(entityName(change.table)), inserted: change.inserted,
                    updated: change.updated, deleted: change.deleted)
            }
            save.inserted = UInt32(clamping: transaction.changes.reduce(0) { $0 + $1.inserted })
            save.updated = UInt32(clamping: transaction.changes.reduce(0) { $0 + $1.updated })
            save.deleted = UInt32(clamping: transaction.changes.reduce(0) { $0 + $1.deleted })
            let isTimed = transaction.isTimed || transaction.commit != nil || transaction.begin != nil
            var event = event(.save(save), enclosing: enclosure, isTimed: isTimed, thread, transaction.end)
            if transaction.hasUnknownRows { event.unrecorded.insert(.rows) }
            event.site = site(transaction.site)
            try emit(event)
        case .migrating: break
        case .migrated(let end):
            let enclosure = self.end(operation, of: thread)
            var migration = TraceEvent.Migration()
            (migration.way, migration.error) = (end.way, end.hasFailed ? 1 : 0)
            if let enclosure, enclosure.event != 0 {
                // The times of its statements are part of its own.
                let isTimed = end.time != nil || end.end != nil || thread.clock > enclosure.start
                try emit(
                    event(
                        .migration(migration), enclosing: enclosure, isTimed: isTimed, thread, end.end,
                        atLeast: end.time ?? 0))
            } else {
                try emit(event(.migration(migration), end.time, thread, end.end) { _, _ in })
            }
        }
    }

    /// Creates the event of a save or a migration around the statements since it began.
    private func event(
        _ detail: TraceEvent.Detail, enclosing enclosure: Enclosure, isTimed: Bool, _ thread: SQLDebugThread,
        _ time: UInt64?, atLeast duration: UInt64 = 0
    ) -> TraceEvent {
        thread.clock = min(Self.latest, max(thread.clock, time ?? 0, enclosure.start &+ duration))
        end = max(end, thread.clock)
        var event = TraceEvent(
            id: enclosure.event, start: enclosure.start, duration: thread.clock - enclosure.start,
            thread: thread.number, process: thread.process, detail)
        if !isTimed { (event.duration, event.unrecorded) = (0, .duration) }
        return event
    }

    /// Emits the event of a SELECT after its prefetches' statements and before its own, as recorders do.
    @discardableResult
    private func give(
        _ detail: TraceEvent.Detail, of select: SQLDebugThread.Select, _ thread: SQLDebugThread,
        _ emit: (TraceEvent) throws -> Void
    ) rethrows -> TraceEvent {
        var event = try event(detail, select.duration, thread, select.end) { id, start in
            for prefetch in select.prefetches { try statement(prefetch.select, id, thread, start, emit) }
        }
        if select.reportedRows == nil { event.unrecorded.insert(.rows) }
        event.site = site(select.site)
        try emit(event)
        try statement(select, event.id, thread, event.start, emit)
        return event
    }

    /// Creates an event that ended at a time, or follows the previous one, and emits the events within it.
    private func event(
        _ detail: TraceEvent.Detail, _ recordedDuration: UInt64?, _ thread: SQLDebugThread, _ time: UInt64?,
        _ within: (EventID, UInt64) throws -> Void
    ) rethrows -> TraceEvent {
        let duration = recordedDuration ?? 0
        let start = min(Self.latest, max(thread.clock, time.map { $0 > duration ? $0 - duration : 0 } ?? 0))
        thread.clock = min(start &+ duration, Self.latest)
        end = max(end, thread.clock)
        lastEvent += 1
        let id = lastEvent
        try within(id, start)
        var event = TraceEvent(
            id: id, start: start, duration: duration, thread: thread.number, process: thread.process, detail
        )
        event.parent = thread.enclosing.last { $0.event != 0 }?.event ?? 0
        if recordedDuration == nil { event.unrecorded = .duration }
        return event
    }

    private func statement(
        _ select: SQLDebugThread.Select, _ parent: EventID, _ thread: SQLDebugThread, _ start: UInt64,
        _ emit: (TraceEvent) throws -> Void
    ) rethrows {
        lastEvent += 1
        // For a count, the total is the only time in the log.
        let time = select.statementTime ?? (select.isCount ? select.time : nil)
        var event = TraceEvent(
            id: lastEvent, parent: parent, start: start, duration: min(time ?? 0, select.duration ?? 0),
            thread: thread.number, process: thread.process,
            .sql(statement(select.statement, .read, rows: select.isCount ? 1 : select.rows, select.plan)))
        if time == nil { event.unrecorded.insert(.duration) }
        if select.reportedRows == nil, !select.isCount { event.unrecorded.insert(.rows) }
        try emit(event)
    }

    private func statement(
        _ text: LogStatement, _ type: TraceEvent.Statement.StatementType, rows: UInt64, _ plan: PlanEntry? = nil
    ) -> TraceEvent.Statement {
        var statement = TraceEvent.Statement()
        let number = text.number ?? names.id(.statement(StatementEntry(sql: SQLLiterals.removed(from: text.sql))))
        text.number = number
        statement.statement = number
        statement.type = type
        statement.rows = UInt32(clamping: rows)
        statement.plan = plan.map { names.id(.plan($0)) } ?? 0
        return statement
    }

    private func fault(_ name: String, _ object: UInt64, filled: UInt64) -> TraceEvent.Fault {
        var fault = TraceEvent.Fault()
        fault.source = .store
        fault.entity = entity(name)
        fault.object = object
        fault.filled = UInt32(clamping: filled)
        fault.origin = origins.origin(of: position).flatMap { fetches[$0] } ?? 0
        return fault
    }

    private func name(of select: SQLDebugThread.Select, _ text: SelectText?) -> String {
        let table = text?.table ?? ""
        return select.entity ?? entityName(table)
    }

    private func fetch(_ select: SQLDebugThread.Select, _ text: SelectText?, _ name: String) -> TraceEvent.Fetch {
        let hasValues = text.map { $0.values == select.values.count && $0.keyList == nil } ?? false
        let batches = batched.batches(at: position, select.statement.sql)
        let type: TraceEvent.Fetch.ResultType =
            select.isCount ? .count : text?.isOfIdentities == true && batches == nil ? .objectIDs : .objects
        let prefetch = batches?.prefetches ?? select.prefetches.map(\.key)
        let form = LogStatement.Form(entity: name, prefetch: prefetch, type: type, hasValues: hasValues)
        var fetch = TraceEvent.Fetch()
        (fetch.entity, fetch.shape) = select.statement.numbers(of: form) {
            let shape = ShapeEntry(
                entity: name, predicate: text?.predicate ?? "", sort: text?.sort ?? [], prefetch: prefetch,
                isLimited: text?.isLimited ?? false, resultType: "\(type)",
                terms: text?.keyList == nil ? text?.terms : nil, hasUnrecordedValues: hasValues ? nil : true)
            return (entity(name), names.id(.shape(shape)))
        }
        if hasValues, let terms = text?.terms, terms.count == select.values.count { fetch.operands = select.values }
        fetch.parameters = StableHash.fold(select.values)
        fetch.resultType = type
        (fetch.limit, fetch.offset) = (UInt32(clamping: text?.limit ?? 0), UInt32(clamping: text?.offset ?? 0))
        fetch.batchSize = UInt32(clamping: batches?.size ?? 0)
        fetch.rows = UInt32(clamping: select.rows)
        fetch.trips = UInt32(clamping: 1 + select.prefetches.count)
        fetch.prefetchedRows = UInt32(clamping: select.prefetches.reduce(0) { $0 + $1.rows })
        fetch.step = select.statementTime ?? 0
        return fetch
    }

    private func batch(
        _ select: SQLDebugThread.Select, _ name: String, of fetch: BatchedFetches.Identities
    ) -> TraceEvent.Batch {
        let paths = batched.batches(at: fetch.position)?.prefetches ?? []
        var batch = TraceEvent.Batch()
        batch.fetch = fetch.event
        batch.entity = entity(name)
        batch.shape = fetch.shape
        batch.firstIndex = UInt32(clamping: fetch.loaded)
        batch.rows = UInt32(clamping: select.rows)
        batch.trips = UInt32(clamping: 1 + select.prefetches.count)
        batch.prefetchedRows = UInt32(clamping: select.prefetches.reduce(0) { $0 + $1.rows })
        batch.prefetches = select.prefetches.compactMap { prefetch in
            guard let path = paths.firstIndex(of: prefetch.key) else { return nil }
            return TraceEvent.Prefetch(
                path: UInt64(path), trips: 1, rows: prefetch.rows, bytes: 0, duration: prefetch.select.duration ?? 0)
        }
        return batch
    }
}

extension SQLDebugThread.Select {
    /// The total; without one, SQLite's part.
    fileprivate var duration: UInt64? { time ?? statementTime }
}
