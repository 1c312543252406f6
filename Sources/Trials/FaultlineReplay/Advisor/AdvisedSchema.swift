import CSQLite
internal import FaultlineFindings
import FaultlineProfile
import FaultlineRules
import Foundation

/// The tables of a database, as far as advice about indexes needs them.
struct AdvisedSchema {
    struct Column {
        var name: String
        var type: String
        var collation: String
        /// Whether SQLite computes its values.
        var isComputed: Bool
        /// Whether it is another name of the row ID.
        var isRowID: Bool

        /// Whether SQLite has its collation, and not the program alone.
        var hasKnownCollation: Bool { ["BINARY", "NOCASE", "RTRIM"].contains(collation.uppercased()) }
    }

    struct Table {
        /// The name of its database: `main`, or that of an attached one.
        var database: String
        var name: String
        var columns: [Column]
        var isVirtual: Bool
        var hasRowID: Bool
        /// The statement that creates it.
        var sql: String
        var indexes: [Index] = []
        var references: [Reference] = []

        /// The name in SQL, with that of its database.
        var qualifiedName: String { DatabaseFile.qualified(name, in: database) }

        func column(_ name: String) -> Int? {
            columns.firstIndex { $0.name.lowercased() == name.lowercased() }
        }
    }

    /// An index that has all rows.
    struct Index {
        /// The columns with their collations.
        ///
        /// The column of an expression is `nil`.
        var keys: [(column: Int?, collation: String)]
    }

    /// A foreign key.
    struct Reference {
        /// The table that it refers to.
        var table: String
        /// The columns of its own table.
        var columns: [Int]
    }

    /// The names of the databases, the main one first.
    let databases: [String]
    private(set) var tables: [Table] = []
    /// The statements that create views of the main database, in the order of their creation.
    private(set) var views: [String] = []
    /// The triggers, each with its table in lowercase and the statement that creates it.
    private var triggers: [(table: String, sql: String)] = []
    /// The names of all tables, indexes, views and triggers, in lowercase.
    private(set) var names: Set<String> = []

    /// - Parameter attached: The names of attached databases.
    /// - Throws: ``ReplayError`` if the schema cannot be read.
    init(_ file: DatabaseFile, attached: [String] = []) throws(ReplayError) {
        databases = ["main"] + attached
        for database in databases { try read(database, of: file) }
    }

    private mutating func read(_ database: String, of file: DatabaseFile) throws(ReplayError) {
        let schema = DatabaseFile.qualified("sqlite_schema", in: database)
        for row in try file.rows("SELECT type, name, sql, tbl_name FROM \(schema) ORDER BY rowid") {
            names.insert(row[1].text.lowercased())
            if row[0].text == "view", database == "main" { views.append(row[2].text) }
            if row[0].text == "trigger" { triggers.append((row[3].text.lowercased(), row[2].text)) }
        }
        let listed = try file.rows(
            """
            SELECT l.name, l.type, l.wr, s.sql FROM pragma_table_list AS l JOIN \(schema) AS s ON s.name = l.name
            WHERE l.schema = \(DatabaseFile.literal(database)) AND l.type IN ('table', 'virtual')
            AND l.name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
            ORDER BY s.rowid
            """)
        for row in listed {
            var table = Table(
                database: database, name: row[0].text, columns: try Self.columns(of: row[0].text, in: database, file),
                isVirtual: row[1].text == "virtual",
                hasRowID: row[2].number == 0, sql: Self.qualifying(row[3].text, in: database))
            if !table.isVirtual {
                table.indexes = try Self.indexes(of: table, file)
                table.references = try Self.references(of: table, file)
            }
            tables.append(table)
        }
    }

    /// The statements in the triggers on tables, with a parameter in place of each value of the row that fires them.
    func statements(ofTriggersOn tables: [String]) -> [String] {
        let tables = Set(tables.map { $0.lowercased() })
        return triggers.filter { tables.contains($0.table) }.flatMap { Self.statements(ofTrigger: $0.sql) }.uniqued
    }

    /// The statements between `BEGIN` and `END`.
    static func statements(ofTrigger sql: String) -> [String] {
        let tokens = StatementText.tokens(of: sql)
        guard let begin = tokens.firstIndex(where: { $0.isKeyword("BEGIN") }),
            let end = tokens.lastIndex(where: { $0.isKeyword("END") }), begin < end
        else { return [] }
        var statements: [String] = []
        var (text, rest) = ("", tokens[begin].range.upperBound)
        var index = begin + 1
        while index < end {
            let isOfRow =
                (tokens[index].isKeyword("NEW") || tokens[index].isKeyword("OLD")) && tokens[index + 1].text == "."
            let last = isOfRow ? min(index + 2, end) : index
            if isOfRow || tokens[index].text == ";" {
                text += sql[rest..<tokens[index].range.lowerBound] + (isOfRow ? "?" : "")
                rest = tokens[last].range.upperBound
            }
            if tokens[index].text == ";", !tokens[index].isValue {
                statements.append(text.trimmingCharacters(in: .whitespacesAndNewlines))
                text = ""
            }
            index = last + 1
        }
        return statements.filter { !$0.isEmpty }
    }

    /// The full-text tables with external content, by the tables that have it, in lowercase
    /// (https://sqlite.org/fts5.html#external_content_tables).
    var fullTextTables: [String: String] {
        var found: [String: String] = [:]
        for table in tables where table.isVirtual {
            let tokens = StatementText.tokens(of: table.sql)
            guard tokens.contains(where: { $0.isKeyword("FTS5") || $0.isKeyword("FTS4") }),
                let place = tokens.indices.dropLast(2).first(where: {
                    tokens[$0].isKeyword("CONTENT") && tokens[$0 + 1].text == "="
                })
            else { continue }
            let content = tokens[place + 2].text.trimmingCharacters(in: CharacterSet(charactersIn: "'\"`"))
            if !content.isEmpty { found[content.lowercased()] = table.name }
        }
        return found
    }

    /// The statement that creates something, as SQLite keeps it, for a database.
    ///
    /// SQLite keeps such a statement from the name on, without the name of the database, behind words of its own.
    static func qualifying(_ sql: String, in database: String) -> String {
        let words = ["TABLE ", "VIRTUAL TABLE ", "INDEX ", "UNIQUE INDEX ", "TRIGGER ", "VIEW "].map { "CREATE " + $0 }
        guard database != "main", let start = words.first(where: sql.hasPrefix) else { return sql }
        return start + DatabaseFile.quoted(database) + "." + sql.dropFirst(start.count)
    }

    /// The position of a table, in a database or in the first one that has it.
    func table(_ name: String, in database: String? = nil) -> Int? {
        tables.firstIndex { table in
            table.name.lowercased() == name.lowercased() && (database == nil || table.database == database)
        }
    }

    private static func columns(
        of table: String, in database: String, _ file: DatabaseFile
    ) throws(ReplayError) -> [Column] {
        let of = [table, database].map(DatabaseFile.literal).joined(separator: ", ")
        let rows = try file.rows("SELECT name, type, pk, hidden FROM pragma_table_xinfo(\(of)) ORDER BY cid")
        let keys = rows.count { $0[2].number > 0 }
        return rows.map { row in
            var collation: UnsafePointer<CChar>?
            sqlite3_table_column_metadata(file.connection, database, table, row[0].text, nil, &collation, nil, nil, nil)
            return Column(
                name: row[0].text, type: row[1].text, collation: collation.map { String(cString: $0) } ?? "BINARY",
                isComputed: row[3].number >= 2,
                isRowID: row[2].number > 0 && keys == 1 && row[1].text.uppercased() == "INTEGER")
        }
    }

    private static func indexes(of table: Table, _ file: DatabaseFile) throws(ReplayError) -> [Index] {
        var indexes: [Index] = []
        let database = DatabaseFile.quoted(table.database)
        for index in try file.rows("PRAGMA \(database).index_list(\(DatabaseFile.quoted(table.name)))")
        where index[4].number == 0 {
            let parts = try file.rows("PRAGMA \(database).index_xinfo(\(DatabaseFile.quoted(index[1].text)))")
            let keys = parts.filter { $0[5].number == 1 }.map { part in
                (column: table.column(part[2].text), collation: part[4].text)
            }
            indexes.append(Index(keys: keys))
        }
        return indexes
    }

    private static func references(of table: Table, _ file: DatabaseFile) throws(ReplayError) -> [Reference] {
        var references: [UInt64: Reference] = [:]
        let list = "PRAGMA \(DatabaseFile.quoted(table.database)).foreign_key_list(\(DatabaseFile.quoted(table.name)))"
        for row in try file.rows(list) {
            guard let column = table.column(row[3].text) else { continue }
            references[row[0].number, default: Reference(table: row[2].text, columns: [])].columns.append(column)
        }
        return references.sorted { $0.key < $1.key }.map(\.value)
    }
}

extension TypeMismatch {
    /// The columns of different types that a statement compares for equality.
    static func all(in slots: StatementSlots, _ schema: AdvisedSchema) -> [TypeMismatch] {
        slots.joins.flatMap { pair -> [TypeMismatch] in
            let columns = pair.compactMap { column -> (name: String, type: String)? in
                guard let table = column.table.flatMap({ schema.table($0) }).map({ schema.tables[$0] }),
                    let position = table.column(column.name)
                else { return nil }
                return ("\(table.name).\(column.name)", table.columns[position].type)
            }
            guard columns.count == 2 else { return [] }
            let both = [(columns[0], columns[1]), (columns[1], columns[0])]
            return both.filter { !isNumeric($0.0.type) && isNumeric($0.1.type) }.map { own, other in
                TypeMismatch(column: own.name, type: own.type, other: other.name, otherType: other.type)
            }
        }
    }

    /// Whether a declared type gives a column numeric affinity (https://sqlite.org/datatype3.html#determination_of_column_affinity).
    private static func isNumeric(_ type: String) -> Bool {
        let type = type.uppercased()
        if type.contains("INT") { return true }
        return !type.isEmpty && !["CHAR", "CLOB", "TEXT", "BLOB"].contains(where: type.contains)
    }
}
