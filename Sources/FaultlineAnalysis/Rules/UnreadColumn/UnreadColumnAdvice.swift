internal import FaultlineTrace

/// The wording of R30's findings.
struct UnreadColumnAdvice {
    let sql: String
    let text: StatementText
    let table: String
    let evidence: ColumnReadEvidence

    /// The most names that a sentence lists.
    private static let fewNames = 5

    private var library: StatementLibrary? { StatementLibrary(names: evidence.libraries) }
    private var model: String { StatementLibrary.modelName(of: table) }
    private var isGRDB: Bool { library == .grdb }

    /// Whether each run returned one row, of which nothing was read: the program asked whether there is one.
    private var isExistence: Bool { evidence.isCountedOnly && evidence.rows == evidence.executions }

    var title: Wording {
        if isExistence { return "Ask whether a row of \(entity: table) exists, without selecting its columns" }
        return evidence.isCountedOnly
            ? "Count the rows of \(entity: table) in SQL, instead of stepping over them"
            : "Select only the columns of \(entity: table) that are read"
    }

    var fix: Wording {
        if isExistence { return "SQLite then stops at the first row, and reads none of its columns." }
        return evidence.isCountedOnly
            ? "SQLite counts rows without reading their columns, and from an index alone if one serves the condition."
            : "SQLite reads and copies each column that a statement selects. It can take short rows from an index alone."
    }

    var code: [String] {
        guard let selection = StatementSelection(sql), selection.isPlain else { return [] }
        if isExistence { return isGRDB ? ["try !\(model).filter(…).isEmpty(db)"] : [selection.existence] }
        if evidence.isCountedOnly {
            return isGRDB ? ["let count = try \(model).filter(…).fetchCount(db)"] : [selection.count]
        }
        let names = evidence.readColumns
        // SQLite can name columns by their tables, or by the text of what it took for a value.
        guard selection.isOfColumns, !names.contains(where: { $0.contains(".") || $0.contains("\"") }) else {
            return []
        }
        return isGRDB
            ? ["\(model).select(\(names.map { "Column(\"\($0)\")" }.joined(separator: ", ")))"]
            : [selection.columns(names)]
    }

    /// The language of ``code``.
    var language: String { isGRDB ? "swift" : "sql" }

    /// The change to try on a copy.
    var change: StatementChange.Kind {
        if isExistence { return .existence }
        return evidence.isCountedOnly ? .count : .columns(evidence.readColumns)
    }

    var explanation: [Wording] {
        let runs: Wording = "\(count: evidence.executions, "run") of \(code: Phrase.shortened(text.summary, to: 90))"
        let returned: Wording = "\(runs) returned \(rows: evidence.rows), in \(duration: evidence.time)"
        let measured: Wording = "\(code: "faultline verify") measures what the change saves."
        if evidence.isCountedOnly { return ["\(returned). The program read none of their columns.", measured] }
        let unread = evidence.unreadColumns
        let rest = unread.count - Self.fewNames
        let more: Wording = rest > 0 ? " and \(count: rest, "other")" : ""
        let listed = unread.prefix(rest > 0 ? Self.fewNames : unread.count)
        return [
            "\(returned). The program never read \(count: unread.count, of: .count) of the \(count: evidence.columns.count, "column"): "
                + "\(code: listed.joined(separator: ", "))\(more).",
            measured,
        ]
    }
}
