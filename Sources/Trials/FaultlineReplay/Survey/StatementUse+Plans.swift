import FaultlineProfile
import FaultlineRules
import Foundation

extension StatementUse {
    /// Asks SQLite how it would run statements.
    ///
    /// - Throws: ``ReplayError`` if the schema cannot be read.
    init(of recorded: RecordedStatements, on file: DatabaseFile) throws(ReplayError) {
        self.init()
        // Statements of a trace, which others may have written, are explained and never run.
        let schema = try Schema(file)
        let plans = recorded.planLines.joined(separator: "\n")
        indexes = schema.indexes(in: plans).union(try schema.indexesOfReferences(file))
        unclearTables = try schema.tablesOfTriggers(file)
        for statement in recorded.statements {
            guard let accesses = schema.accesses(of: statement.sql, on: file) else {
                strangers += 1
                unclearTables.formUnion(StatementSlots(statement.sql).tables.map { $0.lowercased() })
                continue
            }
            self.statements += 1
            indexes.formUnion(accesses.indexes)
            for table in accesses.read { tables[table, default: Table()].reads &+= statement.runs }
            for table in accesses.written { tables[table, default: Table()].writes &+= statement.runs }
        }
    }
}

/// The tables and indexes that a statement opens.
private struct Accesses {
    var read: Set<String> = []
    var written: Set<String> = []
    /// The indexes that it searches or scans.
    var indexes: Set<String> = []
}

/// The tables and indexes of a database by the root pages of their trees.
private struct Schema {
    private var tables: [UInt64: String] = [:]
    private var indexes: [UInt64: String] = [:]
    private var names: Set<String> = []

    init(_ file: DatabaseFile) throws(ReplayError) {
        for row in try file.rows("SELECT type, name, tbl_name, rootpage FROM sqlite_schema WHERE rootpage > 0") {
            let (name, table, page) = (row[1].text, row[2].text, row[3].number)
            tables[page] = table
            names.insert(table)
            if row[0].text == "index" { indexes[page] = name }
        }
    }

    /// - Returns: `nil` if the statement does not fit the database, or uses none of its tables.
    func accesses(of sql: String, on file: DatabaseFile) -> Accesses? {
        let text = Self.explainable(insertion(sql, file) ?? sql)
        guard let operations = try? file.rows("EXPLAIN \(text)"), let plan = try? file.plan(text) else { return nil }
        var found = Accesses()
        // The columns are the address, the operation and its parameters; the second parameter is a root page
        // (https://sqlite.org/opcode.html).
        for operation in operations where operation.count > 3 {
            let page = operation[3].number
            switch operation[1].text {
            case "OpenRead", "ReopenIdx":
                if let table = tables[page] { found.read.insert(table) }
                if let index = indexes[page] { found.indexes.insert(index) }
            case "OpenWrite":
                if let table = tables[page] { found.written.insert(table) }
            case "Clear":
                if let table = tables[operation[2].number] { found.written.insert(table) }
            default: break
            }
        }
        // A statement that changes rows opens all indexes of its table for writing. Its plan has those that it searches.
        found.indexes.formUnion(indexes(in: plan))
        return found.read.isEmpty && found.written.isEmpty ? nil : found
    }

    /// The indexes that plans name.
    func indexes(in plans: String) -> Set<String> { Set(indexes.values.filter { RestTrials.uses($0, plans) }) }

    /// The indexes with a column of a foreign key, with which SQLite seeks the rows that refer to a row that is deleted.
    func indexesOfReferences(_ file: DatabaseFile) throws(ReplayError) -> Set<String> {
        var found: Set<String> = []
        for table in names {
            let keys = try file.rows("PRAGMA foreign_key_list(\(DatabaseFile.quoted(table)))").map {
                $0[3].text.lowercased()
            }
            guard !keys.isEmpty else { continue }
            for row in try file.rows("PRAGMA index_list(\(DatabaseFile.quoted(table)))") {
                let columns = try file.rows("PRAGMA index_info(\(DatabaseFile.quoted(row[1].text)))")
                if columns.contains(where: { keys.contains($0[2].text.lowercased()) }) { found.insert(row[1].text) }
            }
        }
        return found
    }

    /// The tables, in lowercase, that triggers read or write, by statements without a plan of their own.
    func tablesOfTriggers(_ file: DatabaseFile) throws(ReplayError) -> Set<String> {
        var found: Set<String> = []
        for row in try file.rows("SELECT sql, tbl_name FROM sqlite_schema WHERE type = 'trigger'") {
            let own = row[1].text.lowercased()
            let words = row[0].text.lowercased().split { !$0.isLetter && !$0.isNumber && $0 != "_" }
            for name in names.map({ $0.lowercased() }) {
                // The trigger names its own table once.
                let mentions = words.count { $0 == name }
                if mentions > (name == own ? 1 : 0) { found.insert(name) }
            }
        }
        return found
    }

    /// The statement with one value for each list, and patterns that an index can serve.
    private static func explainable(_ sql: String) -> String {
        var text = ""
        var rest = sql.startIndex
        for place in StatementSlots(sql).places {
            text += sql[rest..<place.range.lowerBound]
            rest = place.range.upperBound
            switch place.slot {
            case .pattern(_, _, let operation): text += operation == "GLOB" ? "'a*'" : "'a%'"
            case .escape: text += "'\\'"
            default: text += "?"
            }
        }
        return text + sql[rest...]
    }

    /// A statement that inserts values, as many as it has columns: a trace has a list of any length, `VALUES (?, …)`.
    ///
    /// - Returns: `nil` if it is another statement.
    private func insertion(_ sql: String, _ file: DatabaseFile) -> String? {
        guard let list = sql.range(of: "VALUES (?, …)", options: .caseInsensitive),
            let table = StatementSlots(sql).tables.first
        else { return nil }
        let head = sql[..<list.lowerBound]
        let named = head.split(separator: "(").dropFirst().first?.split(separator: ",").count
        let all = try? file.number("SELECT count(*) FROM pragma_table_info(\(DatabaseFile.literal(table)))")
        guard let count = named ?? all.map(Int.init(clamping:)), count > 0 else { return nil }
        let values = Array(repeating: "?", count: count).joined(separator: ", ")
        return head + "VALUES (\(values))" + sql[list.upperBound...]
    }
}
