internal import FaultlineTrace

/// The wording of R14's findings about the offsets of statements.
struct StatementOffsetAdvice {
    let text: StatementText
    let table: String
    let evidence: OffsetEvidence

    private var library: StatementLibrary? { StatementLibrary(names: evidence.libraries) }

    /// The column that orders the pages, if it is the only one.
    var key: StatementText.SortedColumn? { text.sortKeys.count == 1 ? text.sortKeys[0] : nil }

    var title: Wording {
        "Continue each page of \(entity: table) after the last row of the previous page, not by offset"
    }

    var fix: Wording {
        guard let key else {
            return
                "Remember the values of the last row of a page by which the rows are ordered, and select the rows after it: "
                + "with an index on these columns, SQLite seeks them directly."
        }
        return "Remember the last row of a page, and select the rows after it: with an index on \(property: key.name), "
            + "SQLite seeks them directly. If rows share a value of \(property: key.name), order by a second column that is "
            + "unique, and compare both."
    }

    var code: [String] {
        guard let key else { return [] }
        let model = StatementLibrary.modelName(of: table)
        let (sign, lookup) = key.isDescending ? ("<", "lt") : (">", "gt")
        // The statement's own condition stays.
        let has = text.hasCondition
        switch library {
        case .django?:
            let filter = (has ? "…, " : "") + "\(key.name)__\(lookup)=last.\(key.name)"
            let order = (key.isDescending ? "-" : "") + key.name
            return ["\(model).objects.filter(\(filter)).order_by(\"\(order)\")[:size]"]
        case .sqlAlchemy?:
            let column = "\(model).\(key.name)"
            let condition = (has ? "…, " : "") + "\(column) \(sign) last.\(key.name)"
            let order = column + (key.isDescending ? ".desc()" : "")
            return ["select(\(model)).where(\(condition)).order_by(\(order)).limit(size)"]
        case .grdb?:
            let column = "Column(\"\(key.name)\")"
            let condition = (has ? "… && " : "") + "\(column) \(sign) last.\(key.name)"
            let order = column + (key.isDescending ? ".desc" : "")
            return ["\(model).filter(\(condition)).order(\(order)).limit(size)"]
        case .python?, nil:
            let column = StatementText.quoted(key.name)
            let condition = (has ? "… AND " : "") + "\(column) \(sign) ?"
            let order = column + (key.isDescending ? " DESC" : "")
            return ["SELECT … FROM \(StatementText.quoted(table)) WHERE \(condition) ORDER BY \(order) LIMIT ?"]
        }
    }

    /// The language of ``code``.
    var language: String {
        guard let library, library != .python else { return "sql" }
        return library.language
    }

    var explanation: [Wording] {
        [
            "\(count: evidence.executions, "run") of \(code: Phrase.shortened(text.summary, to: 90)) skipped about "
                + "\(decimal: evidence.skippedRows, places: 0, of: .rows) rows to return \(count: evidence.rows): "
                + "\(duration: evidence.time).",
            "SQLite steps over all rows before the offset, so a page takes longer the further back it is.",
        ]
    }

    var alternatives: [Wording] { ["To jump to a page, remember the values at which pages begin."] }
}
