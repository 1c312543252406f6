import CSQLite
import FaultlineRecorder
import FaultlineStore

/// The tables, columns, indexes and triggers that a database has.
struct StoreStructure {
    struct Column: Hashable {
        let name: String
        /// The declared type, in capitals.
        let type: String
    }

    struct Index: Hashable {
        let name: String
        let table: String
        let isUnique: Bool
        /// The columns in order, with ` DESC` after descending ones, and with collations other than SQLite's own.
        var columns: [String]
        /// Whether the index has only the rows that fulfill a condition.
        let isPartial: Bool
        let sql: String
        /// Whether it has values that SQLite computes, whose columns are not listed.
        var hasExpression: Bool { columns.contains { $0.isEmpty || $0.hasPrefix(" ") } }

        /// Whether the index does the same as another one, whatever their names.
        func equals(_ other: Index) -> Bool {
            table == other.table && isUnique == other.isUnique && columns == other.columns
                && !isPartial && !other.isPartial
        }
    }

    struct Table {
        let name: String
        let columns: [Column]
        let sql: String
        /// The indexes with a statement of their own, without those of primary keys.
        let indexes: [Index]
        /// Whether the table's own statement has a `UNIQUE` clause, as in Core Data's old stores.
        let hasUniqueClause: Bool
    }

    struct Trigger {
        let name: String
        let table: String
        let sql: String
    }

    private(set) var tables: [String: Table] = [:]
    private(set) var triggers: [Trigger] = []

    /// Reads the structure of an open database.
    init(_ setup: StoreSetup) throws(StoreError) {
        let text = { (row: OpaquePointer, column: Int32) in
            sqlite3_column_text(row, column).map { String(cString: $0) } ?? ""
        }
        let entries = try setup.read("SELECT type, name, tbl_name, sql FROM sqlite_master WHERE sql IS NOT NULL") {
            row in (0...3).map { text(row, $0) }
        }
        let statements = Dictionary(entries.filter { $0[0] == "index" }.map { ($0[1], $0[3]) }) { first, _ in first }
        for entry in entries where entry[0] == "table" && !entry[1].hasPrefix("sqlite_") {
            let name = entry[1]
            let columns = try setup.read("SELECT name, type FROM pragma_table_info('\(Self.escaped(name))')") { row in
                Column(name: text(row, 0), type: text(row, 1).uppercased())
            }
            var indexes: [Index] = []
            let list = try setup.read(
                "SELECT name, \"unique\", origin, partial FROM pragma_index_list('\(Self.escaped(name))')"
            ) { row in
                (text(row, 0), sqlite3_column_int(row, 1) == 1, text(row, 2), sqlite3_column_int(row, 3) == 1)
            }
            for (index, isUnique, _, isPartial) in list {
                guard let sql = statements[index] else { continue }
                let parts = try setup.read(
                    "SELECT name, \"desc\", coll FROM pragma_index_xinfo('\(Self.escaped(index))') WHERE key = 1 ORDER BY seqno"
                ) { row in
                    let collation = text(row, 2) == "BINARY" ? "" : " COLLATE " + text(row, 2)
                    return text(row, 0) + (sqlite3_column_int(row, 1) == 1 ? " DESC" : "") + collation
                }
                indexes.append(
                    Index(
                        name: index, table: name, isUnique: isUnique, columns: parts, isPartial: isPartial, sql: sql))
            }
            tables[name] = Table(
                name: name, columns: columns, sql: entry[3], indexes: indexes,
                hasUniqueClause: list.contains { $0.2 == "u" })
        }
        triggers = entries.filter { $0[0] == "trigger" }.map { Trigger(name: $0[1], table: $0[2], sql: $0[3]) }
    }

    /// The structure that a new store of a model has.
    ///
    /// SQLite itself builds it, in memory, so both sides of a comparison are read in one way.
    init(creating statements: [String]) throws(StoreError) {
        let connection = try SQLConnection(
            path: SQLConnection.memory, opening: SQLConnection.memory, isReadOnly: false, busyTimeout: 0)
        defer { connection.close() }
        let session = SQLSession(connection, recorder: .off(), log: SQLDebugLog(level: 0))
        for statement in statements {
            try session.run(statement, doing: "Planning a migration", isLogged: false)
        }
        try self.init(StoreSetup(session, path: SQLConnection.memory))
    }

    private static func escaped(_ name: String) -> String { name.replacing("'", with: "''") }
}
