import FaultlineAnalysis
import Foundation

extension StatementUse {
    /// Asks SQLite how it would run statements.
    ///
    /// - Throws: ``ReplayError`` if the schema cannot be read.
    init(of statements: [RecordedStatement], on file: DatabaseFile) throws(ReplayError) {
        self.init()
        // Statements of a trace, which others may have written, are explained and never run.
        let schema = try Schema(file)
        for statement in statements {
            guard let accesses = schema.accesses(of: statement.sql, on: file) else {
                strangers += 1
                continue
            }
            self.statements += 1
            indexes.formUnion(accesses.indexes)
            for table in accesses.read { tables[table, default: Table()].reads &+= statement.runs }
            for table in accesses.written { tables[table, default: Table()].writes &+= statement.runs }
        }
    }
}

/// What a statement opens.
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
        let slots = StatementSlots(sql)
        let text = Self.explainable(sql, slots)
        guard let operations = try? file.rows("EXPLAIN \(text)"), let plan = try? file.plan(text) else {
            return Self.insertion(sql, slots).flatMap { names.contains($0) ? Accesses(written: [$0]) : nil }
        }
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
        found.indexes.formUnion(indexes.values.filter { RestTrials.uses($0, plan) })
        return found.read.isEmpty && found.written.isEmpty ? nil : found
    }

    /// The statement with one value for each list, and patterns that an index can serve.
    private static func explainable(_ sql: String, _ slots: StatementSlots) -> String {
        var text = ""
        var rest = sql.startIndex
        for place in slots.places {
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

    /// The table of a statement that inserts rows, whose number of values a trace does not have.
    private static func insertion(_ sql: String, _ slots: StatementSlots) -> String? {
        let word = sql.prefix { !$0.isWhitespace }.uppercased()
        return ["INSERT", "REPLACE"].contains(word) ? slots.tables.first : nil
    }
}
