import CSQLite
internal import FaultlineDocuments
package import FaultlineTrace

/// A trace as tables of an SQLite database; see ``TraceTable``.
///
/// The view `events` has the columns that all kinds of events share. Inserting an event takes about 30 µs. The tables
/// move to a temporary file when they outgrow SQLite's page cache, so memory use does not grow with them.
package final class TraceDatabase {
    private let connection: OpaquePointer
    private var inserts: [String: Insert] = [:]
    private var printers: [UInt32: EventJSON] = [:]
    private var dictionaries: [UInt32: TraceDictionary] = [:]

    private final class Insert {
        let statement: OpaquePointer
        let positions: [String: Int32]

        init(_ statement: OpaquePointer, _ table: TraceTable) {
            self.statement = statement
            positions = Dictionary(
                uniqueKeysWithValues: table.columns.enumerated().map { ($1.name, Int32($0 + 1)) })
        }

        deinit { sqlite3_finalize(statement) }
    }

    /// Creates empty tables.
    ///
    /// - Parameter path: The path of a file that does not exist. The default is a temporary file.
    /// - Throws: ``QueryError`` if the file cannot be written.
    package init(path: String? = nil) throws(QueryError) {
        var opened: OpaquePointer?
        let code = sqlite3_open_v2(path ?? "", &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nil)
        guard code == SQLITE_OK, let opened else {
            sqlite3_close_v2(opened)
            throw QueryError(code: code, message: String(cString: sqlite3_errstr(code)))
        }
        connection = opened
        // The tables can be recreated from the trace, so they need no journal.
        try run("PRAGMA journal_mode = OFF")
        try run("PRAGMA synchronous = OFF")
        try run("BEGIN")
        for table in TraceTable.all {
            let columns = table.columns.map { "\"\($0.name)\" \($0.type)" }.joined(separator: ", ")
            try run("CREATE TABLE \"\(table.name)\"(\(columns))")
        }
    }

    deinit {
        inserts = [:]
        sqlite3_close_v2(connection)
    }

    // MARK: - Filling

    /// Adds a message of the trace.
    ///
    /// Messages must come in the reader's order: for each process its start first, then its dictionary, then its
    /// events.
    package func add(_ message: TraceMessage) throws(QueryError) {
        switch message {
        case .began(let began):
            let members: [(String, JSONValue)] = [
                ("process", .unsigned(UInt64(began.process))), ("program", .string(began.program)),
                ("start", .unsigned(began.start)), ("isClosed", .bool(false)),
            ]
            try insert(members, into: "processes")
        case .entry(let process, let id, let entry):
            dictionaries[process, default: TraceDictionary()].insert(entry, id: id)
            printers[process] = nil
            if case .stack(let stack) = entry { stacks.append((process, id, stack)) }
        case .event(let event):
            var printer =
                printers.removeValue(forKey: event.process)
                ?? EventJSON(dictionary: dictionaries[event.process] ?? TraceDictionary())
            let members = printer.members(event)
            printers[event.process] = printer
            try insert(members, into: event.kind.name)
        case .ended(let ended):
            try run(
                "UPDATE processes SET end = ?2, events = ?3, lost = ?4, isClosed = ?5 WHERE process = ?1",
                [UInt64(ended.process), ended.end, ended.events, ended.lost, ended.isClosed ? 1 : 0])
        case .lost: break
        }
    }

    /// Stacks whose frames may arrive later.
    private var stacks: [(process: UInt32, id: DictionaryID, stack: StackEntry)] = []

    /// Finishes the tables.
    ///
    /// Nothing can be written afterward.
    package func finish() throws(QueryError) {
        for (process, id, stack) in stacks { try insertFrames(of: stack, process, id) }
        stacks = []
        let kinds = TraceTable.all.filter { EventKind(name: $0.name) != nil }
        let common = TraceTable.eventColumns.map { "\"\($0)\"" }.joined(separator: ", ")
        let parts = kinds.map { "SELECT '\($0.name)' AS kind, \(common) FROM \"\($0.name)\"" }
        try run("CREATE VIEW events AS " + parts.joined(separator: " UNION ALL "))
        try run("COMMIT")
        try run("PRAGMA query_only = ON")
    }

    private func insertFrames(of stack: StackEntry, _ process: UInt32, _ id: DictionaryID) throws(QueryError) {
        var depth: UInt64 = 0
        for shown in dictionaries[process]?.frames(of: stack) ?? [] {
            let frame = shown.entry
            let locations = frame?.locations ?? []
            // A frame without a name still has its module.
            for location in locations.isEmpty ? [nil] : locations.map(Optional.some) {
                var members: [(String, JSONValue)] = [
                    ("process", .unsigned(UInt64(process))), ("stack", .unsigned(UInt64(id))),
                    ("depth", .unsigned(depth)),
                ]
                if let module = frame?.module { members.append(("module", .string(module))) }
                if let location {
                    members += [
                        ("function", .string(location.function)), ("file", .string(location.file)),
                        ("line", .integer(Int64(location.line))),
                    ]
                }
                try insert(members, into: "frames")
                depth += 1
            }
        }
    }

    private func insert(_ members: [(String, JSONValue)], into name: String) throws(QueryError) {
        let insert: Insert
        if let known = inserts[name] { insert = known } else { insert = try prepareInsert(name) }
        defer {
            sqlite3_reset(insert.statement)
            sqlite3_clear_bindings(insert.statement)
        }
        for (key, value) in members {
            switch (key, value) {
            case ("callSite", .object(let site)), ("stackSite", .object(let site)):
                let function = key == "callSite" ? "callFunction" : "stackFunction"
                for (part, value) in site where part == "text" { bind(value, to: key, of: insert) }
                for (part, value) in site where part == "function" { bind(value, to: function, of: insert) }
            default: bind(value, to: key, of: insert)
            }
        }
        guard sqlite3_step(insert.statement) == SQLITE_DONE else { throw failure() }
    }

    private func prepareInsert(_ name: String) throws(QueryError) -> Insert {
        guard let table = TraceTable.named(name) else { preconditionFailure("There is no table \(name).") }
        let marks = table.columns.map { _ in "?" }.joined(separator: ", ")
        let insert = Insert(try prepare("INSERT INTO \"\(name)\" VALUES(\(marks))"), table)
        inserts[name] = insert
        return insert
    }

    private func bind(_ value: JSONValue, to column: String, of insert: Insert) {
        guard let position = insert.positions[TraceTable.columnName(ofKey: column)] else { return }
        switch value {
        case .null: break
        case .bool(let value): sqlite3_bind_int64(insert.statement, position, value ? 1 : 0)
        case .unsigned(let value): sqlite3_bind_int64(insert.statement, position, Int64(clamping: value))
        case .integer(let value): sqlite3_bind_int64(insert.statement, position, value)
        case .number(let value): sqlite3_bind_double(insert.statement, position, value)
        case .string(let text): Self.bind(text, position, insert.statement)
        case .array, .object: Self.bind(value.line, position, insert.statement)
        }
    }

    private static func bind(_ text: String, _ position: Int32, _ statement: OpaquePointer) {
        // SQLite copies the text (SQLITE_TRANSIENT).
        let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        sqlite3_bind_text(statement, position, text, Int32(clamping: text.utf8.count), transient)
    }

    // MARK: - Querying

    /// Runs a query.
    ///
    /// - Parameters:
    ///   - heading: Called once, with the names of the columns, before the rows.
    ///   - row: Called with the values of each row.
    /// - Throws: ``QueryError`` if `sql` is not a single statement that SQLite can run, or if it writes.
    package func query(
        _ sql: String, heading: ([String]) throws -> Void, row: ([QueryValue]) throws -> Void
    ) throws {
        let statement = try prepare(sql)
        defer { sqlite3_finalize(statement) }
        let count = sqlite3_column_count(statement)
        guard count > 0 else {
            throw QueryError(code: SQLITE_READONLY, message: "it returns nothing, and a trace is not to be changed")
        }
        try heading((0..<count).map { String(cString: sqlite3_column_name(statement, $0)) })
        while true {
            switch sqlite3_step(statement) {
            case SQLITE_ROW: try row((0..<count).map { QueryValue(statement, column: $0) })
            case SQLITE_DONE: return
            default: throw failure()
            }
        }
    }

    private func prepare(_ sql: String) throws(QueryError) -> OpaquePointer {
        var statement: OpaquePointer?
        let (code, isMore) = sql.withCString { text in
            var rest: UnsafePointer<CChar>?
            let code = sqlite3_prepare_v2(connection, text, -1, &statement, &rest)
            guard code == SQLITE_OK, statement != nil, let rest else { return (code, false) }
            // The rest may be a comment.
            var next: OpaquePointer?
            defer { sqlite3_finalize(next) }
            return (code, sqlite3_prepare_v2(connection, rest, -1, &next, nil) != SQLITE_OK || next != nil)
        }
        guard code == SQLITE_OK else { throw failure() }
        guard let statement else { throw QueryError(code: SQLITE_MISUSE, message: "there is no statement in it") }
        guard !isMore else {
            sqlite3_finalize(statement)
            throw QueryError(code: SQLITE_MISUSE, message: "it is more than one statement")
        }
        return statement
    }

    private func run(_ sql: String, _ values: [UInt64] = []) throws(QueryError) {
        let statement = try prepare(sql)
        defer { sqlite3_finalize(statement) }
        for (position, value) in values.enumerated() {
            sqlite3_bind_int64(statement, Int32(position + 1), Int64(clamping: value))
        }
        var code = sqlite3_step(statement)
        while code == SQLITE_ROW { code = sqlite3_step(statement) }
        guard code == SQLITE_DONE else { throw failure() }
    }

    private func failure() -> QueryError {
        QueryError(code: sqlite3_extended_errcode(connection), message: String(cString: sqlite3_errmsg(connection)))
    }
}

extension TraceTable {
    /// The columns of the view of all events.
    static var eventColumns: [String] { (common + positions).map(\.name) }
}

/// An error that SQLite reports for a query, or for the file of the tables.
package struct QueryError: Error, CustomStringConvertible {
    /// SQLite's extended result code.
    package let code: Int32
    /// SQLite's message: `no such column: rowz`.
    package let message: String

    package var description: String { message }
}
