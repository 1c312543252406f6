import FaultlineTrace
import Foundation

/// Reads what an app of Core Data's printed for `-com.apple.CoreData.SQLDebug`, at any level, mixed with other output.
///
/// Threads are told apart where each line names its own. Lines that name a time give it to their events; otherwise
/// one event follows the other. Faults are given to the last fetch of their entity on the thread, or else to the last of
/// any: the log does not name it.
final class SQLDebugReader {
    /// Bytes in which the first line of Core Data's must come.
    private static let searchLength = 4 << 20

    /// The last time of a log, in nanoseconds since it began: a hundred days.
    private static let latest: UInt64 = 100 * 86_400_000_000_000

    private let path: String
    private var summary = ReadingSummary()
    /// Entities by their tables, where the log names both.
    private var entities: [String: String] = [:]
    private var names = EntryTable()
    /// Programs by their processes' numbers, in the order in which they come; 1 where none is told.
    private var programs: [(process: UInt32, name: String)] = []

    // What begins anew with each pass.
    private var threads: [SQLDebugLine.Writer: SQLDebugThread] = [:]
    private var clocks: [SQLDebugLine.Writer: UInt64] = [:]
    private var origins: [SQLDebugLine.Writer: Origins] = [:]
    private var firstTime: UInt64?
    private var lastEvent: EventID = 0
    private var end: UInt64 = 0

    /// The fetches that faults can belong to.
    private struct Origins {
        var last: EventID = 0
        var byEntity: [String: EventID] = [:]
    }

    init(path: String) {
        self.path = path
    }

    /// Whether a text has lines of Core Data's.
    static func isLog(_ path: String) throws(ReaderError) -> Bool {
        let head = String(decoding: try LineReader.head(of: path, length: searchLength), as: UTF8.self)
        return ["CoreData: sql: ", "CoreData: annotation: ", "[com.apple.coredata:sql]"].contains { head.contains($0) }
    }

    func read(_ body: (TraceMessage) throws -> Void) throws -> ReadingSummary {
        // First what tables are called, then every name, then the events: each comes after what it refers to.
        try pass { _, operation in learn(operation) }
        try pass { writer, operation in try translate(operation, of: writer) { _ in } }
        for (process, program) in programs {
            try body(.began(ProcessBegan(process: process, program: program, source: .sqlDebug)))
            try names.forEach(of: process, body)
        }
        summary = ReadingSummary()
        summary.entries = names.entries.count
        var counts: [UInt32: UInt64] = [:]
        try pass { writer, operation in
            try translate(operation, of: writer) { event in
                summary.events += 1
                counts[event.process, default: 0] += 1
                try body(.event(event))
            }
        }
        summary.processes = programs.map(\.process)
        for (process, _) in programs {
            try body(.ended(ProcessEnded(process: process, end: end, events: counts[process] ?? 0)))
        }
        return summary
    }

    // MARK: Lines

    private func pass(
        _ body: (SQLDebugLine.Writer, SQLDebugThread.Operation) throws -> Void
    ) throws {
        (threads, clocks, origins, firstTime, lastEvent, end) = ([:], [:], [:], nil, 0, 0)
        let lines = try LineReader(path: path)
        while let bytes = try lines.next() {
            summary.lines += 1
            guard Self.isMarked(bytes) else { continue }
            let text = String(
                decoding: UnsafeRawBufferPointer(start: bytes.start, count: bytes.length), as: UTF8.self)
            guard var line = SQLDebugLine(text[...]) else { continue }
            let process = Self.process(line.writer)
            if !programs.contains(where: { $0.process == process }) {
                programs.append((process, String(line.program)))
            }
            if firstTime == nil { firstTime = line.time }
            line.time = line.time.flatMap { time in firstTime.map { time >= $0 ? time - $0 : 0 } }
            let writer = line.writer
            try threads[writer, default: SQLDebugThread()].take(line) { try body(writer, $0) }
        }
        for writer in threads.keys.sorted(by: { ($0.process, $0.thread) < ($1.process, $1.thread) }) {
            try threads[writer]?.finish { try body(writer, $0) }
        }
    }

    private static func process(_ writer: SQLDebugLine.Writer) -> UInt32 { max(1, writer.process) }

    private static func isMarked(_ line: LineReader.Line) -> Bool {
        SQLDebugLine.marks.contains { mark in
            var place = 0
            while let found = memchr(line.start + place, Int32(mark.utf8.first ?? 0), line.length - place) {
                place = UnsafeRawPointer(line.start).distance(to: found)
                guard place + mark.utf8.count <= line.length else { return false }
                if memcmp(found, mark, mark.utf8.count) == 0 { return true }
                place += 1
            }
            return false
        }
    }

    // MARK: Names

    private func learn(_ operation: SQLDebugThread.Operation) {
        let entity: String? =
            switch operation {
            case .fetch(let select): select.entity
            case .fault(_, let entity, _), .toManyFault(_, let entity, _, _, _): entity
            case .statement, .saved: nil
            }
        // That of an inheritance tree is called after its root, and keeps its own name.
        if let entity { entities["Z" + entity.uppercased()] = entity }
    }

    private func entity(_ name: String) -> DictionaryID { names.id(.entity(EntityEntry(name: name))) }

    // MARK: Events

    private func translate(
        _ operation: SQLDebugThread.Operation, of writer: SQLDebugLine.Writer,
        _ emit: (TraceEvent) throws -> Void
    ) throws {
        switch operation {
        case .fetch(let select):
            let text = SelectText(select.sql)
            let name = name(of: select, text)
            let event = try self.event(.fetch(fetch(select, text, name)), select.duration, writer, select.end) {
                id, start in
                for prefetch in select.prefetches { try statement(prefetch.select, id, writer, start, emit) }
                try statement(select, id, writer, start, emit)
            }
            if !select.isCount, select.rows > 1 {
                origins[writer, default: Origins()].last = event.id
                origins[writer]?.byEntity[name] = event.id
            }
            try emit(event)
        case .fault(let select, let entity, let object):
            var fault = self.fault(entity, object, filled: 1, writer)
            fault.type = .object
            try emit(
                event(.fault(fault), select.duration, writer, select.end) {
                    try statement(select, $0, writer, $1, emit)
                })
        case .toManyFault(let select, let entity, let name, let object, let rows):
            var fault = self.fault(entity, object, filled: rows, writer)
            fault.type = .toMany
            fault.relationshipEntity = fault.entity
            fault.relationship = names.id(.name(NameEntry(name: name)))
            try emit(
                event(.fault(fault), select.duration, writer, select.end) {
                    try statement(select, $0, writer, $1, emit)
                })
        case .statement(let plain):
            let statement = statement(plain.sql, plain.type, rows: 0)
            try emit(event(.sql(statement), plain.time, writer, plain.end) { _, _ in })
        case .saved(let transaction):
            var save = TraceEvent.Save()
            save.trips = transaction.statements
            save.entities = transaction.changes.map { change in
                TraceEvent.Save.Change(
                    entity: entity(entities[change.table] ?? change.table), inserted: change.inserted,
                    updated: change.updated, deleted: change.deleted)
            }
            save.inserted = UInt32(clamping: transaction.changes.reduce(0) { $0 + $1.inserted })
            save.updated = UInt32(clamping: transaction.changes.reduce(0) { $0 + $1.updated })
            save.deleted = UInt32(clamping: transaction.changes.reduce(0) { $0 + $1.deleted })
            let span = transaction.begin.flatMap { begin in transaction.end.map { $0 > begin ? $0 - begin : 0 } } ?? 0
            try emit(event(.save(save), span, writer, transaction.end) { _, _ in })
        }
    }

    /// Makes an event that ended at a time, or follows the one before, with what is within it.
    private func event(
        _ detail: TraceEvent.Detail, _ duration: UInt64, _ writer: SQLDebugLine.Writer, _ time: UInt64?,
        _ within: (EventID, UInt64) throws -> Void
    ) rethrows -> TraceEvent {
        let clock = clocks[writer] ?? 0
        let start = min(Self.latest, max(clock, time.map { $0 > duration ? $0 - duration : 0 } ?? 0))
        clocks[writer] = min(start &+ duration, Self.latest)
        end = max(end, clocks[writer] ?? 0)
        lastEvent += 1
        let id = lastEvent
        try within(id, start)
        return TraceEvent(
            id: id, start: start, duration: duration, thread: UInt32(writer.thread, radix: 16) ?? 0,
            process: Self.process(writer),
            detail)
    }

    private func statement(
        _ select: SQLDebugThread.Select, _ parent: EventID, _ writer: SQLDebugLine.Writer, _ start: UInt64,
        _ emit: (TraceEvent) throws -> Void
    ) rethrows {
        lastEvent += 1
        try emit(
            TraceEvent(
                id: lastEvent, parent: parent, start: start, duration: min(select.statementTime, select.duration),
                thread: UInt32(writer.thread, radix: 16) ?? 0, process: Self.process(writer),
                .sql(statement(select.sql, .read, rows: select.isCount ? 1 : select.rows))))
    }

    private func statement(
        _ sql: String, _ type: TraceEvent.Statement.StatementType, rows: UInt64
    ) -> TraceEvent.Statement {
        var statement = TraceEvent.Statement()
        statement.statement = names.id(.statement(StatementEntry(sql: sql)))
        statement.type = type
        statement.rows = UInt32(clamping: rows)
        return statement
    }

    private func fault(
        _ name: String, _ object: UInt64, filled: UInt64, _ writer: SQLDebugLine.Writer
    ) -> TraceEvent.Fault {
        var fault = TraceEvent.Fault()
        fault.source = .store
        fault.entity = entity(name)
        fault.object = object
        fault.filled = UInt32(clamping: filled)
        fault.origin = origins[writer]?.byEntity[name] ?? origins[writer]?.last ?? 0
        return fault
    }

    private func name(of select: SQLDebugThread.Select, _ text: SelectText?) -> String {
        let table = text?.table ?? ""
        return select.entity ?? entities[table] ?? table
    }

    private func fetch(_ select: SQLDebugThread.Select, _ text: SelectText?, _ name: String) -> TraceEvent.Fetch {
        let isTold = text.map { $0.values == select.values.count } ?? false
        var fetch = TraceEvent.Fetch()
        fetch.entity = entity(name)
        fetch.shape = names.id(
            .shape(
                ShapeEntry(
                    entity: name, predicate: text?.predicate ?? "", sort: text?.sort ?? [],
                    prefetch: select.prefetches.map(\.key), isLimited: text?.isLimited ?? false,
                    resultType: select.isCount ? "count" : "objects", terms: isTold ? text?.terms : nil,
                    hasUntoldValues: isTold ? nil : true)))
        if isTold, let terms = text?.terms, terms.count == select.values.count { fetch.operands = select.values }
        fetch.parameters = StableHash.fold(select.values)
        fetch.resultType = select.isCount ? .count : .objects
        fetch.rows = UInt32(clamping: select.rows)
        fetch.trips = UInt32(clamping: 1 + select.prefetches.count)
        fetch.prefetchedRows = UInt32(clamping: select.prefetches.reduce(0) { $0 + $1.rows })
        fetch.step = select.statementTime
        return fetch
    }
}

extension SQLDebugThread.Select {
    /// All of it; without a total SQLite's part.
    fileprivate var duration: UInt64 { time ?? statementTime }
}
