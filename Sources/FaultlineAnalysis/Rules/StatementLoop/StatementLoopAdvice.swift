internal import FaultlineTrace

/// The wording of R27's findings.
struct StatementLoopAdvice {
    let statement: StatementText
    private let key: StatementSite
    private let evidence: StatementLoopEvidence
    private let origin: (statement: StatementSite, text: StatementText, rows: UInt64)?
    private let library: StatementLibrary?

    init(_ key: StatementSite, _ evidence: StatementLoopEvidence) {
        (self.key, self.evidence) = (key, evidence)
        statement = StatementText(key.sql)
        let most = evidence.origins.max { ($0.value, $1.key.sortText) < ($1.value, $0.key.sortText) }
        // A statement without values does not depend on the rows of another.
        origin = statement.hasValues ? most.map { ($0.key, StatementText($0.key.sql), $0.value) } : nil
        library = StatementLibrary(names: evidence.libraries)
    }

    /// How the looked-up rows belong to the rows of the origin.
    private enum Relation {
        /// A row of the origin names the row by a column, such as `author_id` or `authorId`.
        case toOne(name: String, column: String)
        /// The rows name a row of the origin by a column.
        case toMany(column: String)
    }

    /// The relation, if the names of tables and columns show it.
    private var relation: Relation? {
        guard let table = statement.table, let column = statement.comparedColumn, let origin else { return nil }
        if Self.isKey(column) {
            let last = table.split(separator: "_").last.map { $0.lowercased() } ?? table
            let keys = origin.text.columns.compactMap { key in Self.referred(by: key).map { (name: $0, column: key) } }
            let named = keys.filter { key in
                Self.isSame(key.name.lowercased(), last) || Self.isSame(key.name.lowercased(), table.lowercased())
            }
            if let key = named.first ?? (keys.count == 1 ? keys.first : nil) {
                return .toOne(name: key.name, column: key.column)
            }
            // GRDB selects all columns of a record, without their names, and names associations like tables.
            guard library == .grdb, origin.text.columns.isEmpty else { return nil }
            return .toOne(name: table, column: table + "Id")
        }
        return Self.referred(by: column) == nil ? nil : .toMany(column: column)
    }

    /// The name in a column that has the key of another row: `author` in `author_id` and in `authorId`.
    private static func referred(by column: String) -> String? {
        if column.lowercased().hasSuffix("_id"), column.count > 3 { return String(column.dropLast(3)) }
        if column.hasSuffix("Id"), column.count > 2 { return String(column.dropLast(2)) }
        return nil
    }

    private static func isKey(_ column: String) -> Bool { ["id", "rowid", "pk"].contains(column.lowercased()) }

    /// Whether a table's name is that of one of its rows, or its plural.
    private static func isSame(_ name: String, _ table: String) -> Bool {
        table == name || table == name + "s" || table == name + "es" || name.hasSuffix("_" + table)
    }

    /// The line to change: that of the statement whose rows the loop goes through, if it is known.
    var change: CallSite? { origin?.statement.site ?? key.site }

    private var subject: Wording { statement.table.map { "\(entity: $0)" } ?? "the rows" }

    var title: Wording {
        guard statement.hasValues else { return "Read \(subject) once instead of \(count: perLoop) times" }
        return switch (library, relation) {
        case (.django?, .toOne(let name, _)?):
            "Add \(code: "select_related(\"\(name)\")") to the query of \(entity: origin?.text.table ?? "")"
        case (.django?, .toMany?):
            "Add \(code: "prefetch_related") for \(subject) to the query of \(entity: origin?.text.table ?? "")"
        case (.sqlAlchemy?, .some):
            "Load \(subject) eagerly with the query of \(entity: origin?.text.table ?? "")"
        case (.grdb?, .some): "Include \(subject) in the request of \(entity: origin?.text.table ?? "")"
        default: "Read \(subject) with one statement instead of \(count: perLoop)"
        }
    }

    var fix: Wording {
        guard statement.hasValues else {
            return "The statement has no parameters, so it returns the same rows until something is written. Keep them."
        }
        return switch (library, relation) {
        case (.django?, .toOne?):
            "Django then reads both tables with one statement, a join."
        case (.django?, .toMany?):
            "Django then reads the related rows of all objects with one more statement."
        case (.sqlAlchemy?, .some):
            "SQLAlchemy then reads the related rows of all objects with one more statement, or with a join."
        case (.grdb?, .some):
            "GRDB then reads the associated rows of all records with one more statement, or with a join."
        default:
            statement.comparedColumn != nil
                ? "Join the tables, or collect the values first and compare with all of them at once."
                : "Read the rows of all runs with one statement, or keep them if the values repeat."
        }
    }

    var code: [String] {
        let name = StatementLibrary.modelName(of: origin?.text.table)
        let other = StatementLibrary.modelName(of: statement.table)
        switch (library, relation) {
        case (.django?, .toOne(let field, _)?):
            return ["\(name).objects.select_related(\"\(field)\")"]
        case (.django?, .toMany(let column)?):
            return [
                "\(name).objects.prefetch_related(\"\(other.lowercased())_set\")  # related_name of \(other).\(Self.referred(by: column) ?? column)"
            ]
        case (.sqlAlchemy?, .toOne(let field, _)?):
            return ["select(\(name)).options(joinedload(\(name).\(field)))"]
        case (.sqlAlchemy?, .toMany?):
            return ["select(\(name)).options(selectinload(\(name).\(statement.table ?? "")))"]
        case (.grdb?, .toOne(let field, _)?): return ["\(name).including(required: \(name).\(field))"]
        case (.grdb?, .toMany?): return ["\(name).including(all: \(name).\(statement.table ?? ""))"]
        default: return sql
        }
    }

    /// One statement for all values, if it is certain to return the same rows.
    private var sql: [String] {
        guard statement.hasValues, statement.comparesOnlyThat, let table = statement.table,
            let column = statement.comparedColumn
        else { return [] }
        if !statement.isAggregated, case .toOne(_, let key)? = relation, let outer = origin?.text.table {
            let selected = statement.columns.count == 1 ? statement.columns[0] : "*"
            return [
                "SELECT \(outer).*, \(table).\(selected) FROM \(outer) JOIN \(table) ON \(table).\(column) = \(outer).\(key)"
                    + (origin?.text.isWholeTable == false ? " …" : "")
            ]
        }
        let isSelected = statement.columns.contains(column) || statement.selection == "*"
        let selected = statement.selection.count <= 60 || statement.isAggregated ? statement.selection : "…"
        return [
            "SELECT \(isSelected && !statement.isAggregated ? "" : "\(column), ")\(selected) FROM \(table) WHERE \(column) IN (?, ?, …)"
                + (statement.isAggregated ? " GROUP BY \(column)" : "")
        ]
    }

    /// The language of ``code``.
    var language: String {
        guard statement.hasValues, relation != nil, let library, library != .python else { return "sql" }
        return library.language
    }

    private var perLoop: UInt64 { evidence.executions / max(1, evidence.occurrences) }

    var explanation: [Wording] {
        var sentences: [Wording] = []
        let loops: Wording =
            evidence.occurrences == 1 ? "" : " in \(count: evidence.occurrences) loops of about \(count: perLoop)"
        let each: Wording
        if let origin {
            let site: Wording = origin.statement.site.map { " at \(site: $0)" } ?? ""
            let all = evidence.executions &* 10 >= origin.rows &* 9
            each =
                (all
                    ? ", one for each row of "
                    : ", for \(count: evidence.executions) of the \(rows: origin.rows, "row") of ")
                + "\(code: Phrase.shortened(origin.text.summary, to: 90))\(site)"
        } else {
            each = ""
        }
        // Logs round short times down to nothing.
        let times: Wording =
            evidence.time > 0
            ? ": \(duration: evidence.time) in SQLite, and \(duration: evidence.waiting) between them" : ""
        sentences.append(
            "\(count: evidence.executions, "run") of \(code: Phrase.shortened(statement.summary, to: 90))\(loops)\(each)"
                + "\(times).")
        sentences += evidence.callers.sentences
        return sentences
    }

    var alternatives: [Wording] {
        guard library == .sqlAlchemy, relation != nil else { return [] }
        return ["Set \(code: "lazy=\"selectin\"") on the relationship."]
    }

    /// How far the advice can be trusted: the names of a mapper's classes and relations are derived from those of tables.
    var confidence: Confidence {
        if !statement.hasValues { return .low("something may have been written in between") }
        if origin == nil { return .medium("the rows that the loop goes through are not known") }
        return library == nil || library == .python
            ? .high : .medium("the names of classes are derived from those of tables")
    }
}
