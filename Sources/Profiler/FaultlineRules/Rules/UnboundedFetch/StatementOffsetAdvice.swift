internal import FaultlineFindings
internal import FaultlineProfile
internal import FaultlineTrace

/// The wording of R14's findings about the offsets of statements.
struct StatementOffsetAdvice {
    let text: StatementText
    let table: String
    let evidence: OffsetEvidence

    private var library: StatementLibrary? { StatementLibrary(names: evidence.libraries) }

    /// The columns that order the pages, the last one unique, or none if the order is unknown or goes both ways.
    private var keys: [StatementText.SortedColumn] {
        let keys = text.sortKeys
        guard let first = keys.first, Set(keys.map(\.isDescending)).count == 1 else { return [] }
        if keys.contains(where: { Self.isUnique($0.name) }) { return keys }
        // Rows that share a value of the other columns would be left out.
        let unique = library == nil || library == .python ? "rowid" : "id"
        return keys + [.init(name: unique, isDescending: first.isDescending)]
    }

    private static func isUnique(_ column: String) -> Bool { ["id", "rowid", "pk"].contains(column.lowercased()) }

    var title: Wording {
        "Continue each page of \(entity: table) after the last row of the previous page, not by offset"
    }

    var fix: Wording {
        guard !keys.isEmpty else {
            return
                "Remember the values of the last row of a page by which the rows are ordered, and select the rows after it: "
                + "with an index on these columns, SQLite seeks them directly."
        }
        return "Remember the last row of a page, and select the rows after it: with an index on "
            + "\(Wording.properties(text.sortKeys.map(\.name))), SQLite seeks them directly."
    }

    var code: [String] {
        guard !keys.isEmpty, keys.count <= 2, !text.hasDistinctOrWindows else { return [] }
        switch library {
        case .django?: return django
        case .sqlAlchemy?: return sqlAlchemy
        case .grdb?: return grdb
        case .peewee?, .activeRecord?, .python?, nil: return sql
        }
    }

    private var isDescending: Bool { keys[0].isDescending }
    private var sign: String { isDescending ? "<" : ">" }
    private var model: String { StatementLibrary.modelName(of: table) }

    /// The statement's own condition, which stays, with a separator.
    private func condition(_ separator: String) -> String { text.hasCondition ? "…\(separator)" : "" }

    private var sql: [String] {
        let columns = keys.map { StatementText.quoted($0.name) }
        let row = columns.count == 1 ? columns[0] : "(\(columns.joined(separator: ", ")))"
        let values = columns.count == 1 ? "?" : "(?, ?)"
        let order = columns.map { $0 + (isDescending ? " DESC" : "") }.joined(separator: ", ")
        return [
            "SELECT … FROM \(StatementText.quoted(table)) WHERE \(condition(" AND "))\(row) \(sign) \(values) ORDER BY \(order) LIMIT ?"
        ]
    }

    private var django: [String] {
        let lookup = isDescending ? "lt" : "gt"
        let names = keys.map { $0.name == "id" ? "pk" : $0.name }
        var filter = "\(names[0])__\(lookup)=last.\(names[0])"
        if names.count == 2 {
            filter = "Q(\(filter)) | Q(\(names[0])=last.\(names[0]), \(names[1])__\(lookup)=last.\(names[1]))"
        }
        let order = names.map { "\"\(isDescending ? "-" : "")\($0)\"" }.joined(separator: ", ")
        return ["\(model).objects.filter(\(condition(", "))\(filter)).order_by(\(order))[:size]"]
    }

    private var sqlAlchemy: [String] {
        let columns = keys.map { "\(model).\($0.name)" }
        let values = keys.map { "last.\($0.name)" }
        let comparison =
            keys.count == 1
            ? "\(columns[0]) \(sign) \(values[0])"
            : "tuple_(\(columns.joined(separator: ", "))) \(sign) tuple_(\(values.joined(separator: ", ")))"
        let order = columns.map { $0 + (isDescending ? ".desc()" : "") }.joined(separator: ", ")
        return ["select(\(model)).where(\(condition(", "))\(comparison)).order_by(\(order)).limit(size)"]
    }

    private var grdb: [String] {
        let columns = keys.map { "Column(\"\($0.name)\")" }
        var comparison = "\(columns[0]) \(sign) last.\(keys[0].name)"
        if keys.count == 2 {
            comparison +=
                " || \(columns[0]) == last.\(keys[0].name) && \(columns[1]) \(sign) last.\(keys[1].name)"
            if text.hasCondition { comparison = "(\(comparison))" }
        }
        let order = columns.map { $0 + (isDescending ? ".desc" : "") }.joined(separator: ", ")
        return ["\(model).filter(\(condition(" && "))\(comparison)).order(\(order)).limit(size)"]
    }

    /// The language of ``code``.
    var language: String {
        guard let library, library != .python, library != .activeRecord else { return "sql" }
        return library.language
    }

    var explanation: [Wording] {
        [
            "\(count: evidence.executions, "run") of \(code: Phrase.shortened(text.summary, to: 90)) stepped over "
                + "\(evidence.fullScanSteps > 0 ? "" : "about ")\(decimal: evidence.skippedRows, places: 0, of: .rows) rows to "
                + "return \(count: evidence.rows), in \(duration: evidence.time).",
            "SQLite steps over all rows before the offset, so a page takes longer the further back it is.",
        ]
    }

    var alternatives: [Wording] {
        let nullable = text.sortKeys.filter { !Self.isUnique($0.name) }
        let remark: Wording =
            "Rows with NULL in \(Wording.properties(nullable.map(\.name))) need a condition of their own."
        let usesRowID =
            code.contains { $0.contains("rowid") } && !text.sortKeys.contains { $0.name.lowercased() == "rowid" }
        let key: [Wording] =
            usesRowID ? ["In a table WITHOUT ROWID, use its primary key in place of \(code: "rowid")."] : []
        return ["To jump to a page, remember the values at which pages begin."] + key
            + (nullable.isEmpty ? [] : [remark])
    }
}
