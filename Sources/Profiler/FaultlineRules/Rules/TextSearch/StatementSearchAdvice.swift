internal import FaultlineFindings
internal import FaultlineProfile
internal import FaultlineTrace

/// The wording of R08's findings about statements.
struct StatementSearchAdvice {
    let text: StatementText
    let table: String
    let search: StatementText.Search
    let evidence: StatementScanEvidence
    /// The full-text table that the database has for the table, or `nil`.
    var existing: String?
    /// Whether the statement makes the pattern of parts, as in `LIKE ? || '%'`, which no index serves.
    var hasComposedPattern = false

    /// The columns of the table that the statement searches.
    private var columns: [String] {
        let isOnly = text.conditions.names.count == 1
        let names = text.conditions.places.compactMap { place -> String? in
            guard case .pattern(let owner, let name, _) = place.slot, owner == table || owner == nil && isOnly else {
                return nil
            }
            return name
        }
        return ([search.column] + names).uniqued
    }

    var title: Wording {
        if let existing {
            return
                "Search \(entity: table) with its full-text table \(entity: existing), not with \(code: search.operation)"
        }
        return columns.count > 1
            ? "Search \(entity: table)(\(Wording.properties(columns))) with a full-text index, not with \(code: search.operation)"
            : "Search \(entity: table).\(property: search.column) with a full-text index, not with \(code: search.operation)"
    }

    var fix: Wording {
        if existing != nil {
            return
                "\(code: "MATCH") finds whole words and, with a star, their beginnings. To find other parts of words, the full-text "
                + "table needs the tokenizer \(code: "trigram")."
        }
        return
            "SQLite's full-text tables (FTS5) have an index of words or, with the tokenizer \(code: "trigram"), of every three "
            + "characters, which also finds parts of words. Triggers keep such a table up to date; SQLite's page about "
            + "external content has them (https://sqlite.org/fts5.html)."
            + (isReserved
                ? " FTS5 reserves the name \(code: reserved ?? ""), so the full-text table needs a copy of the texts in a column with another name."
                : "")
    }

    /// Whether no column of a full-text table can have the column's name (https://sqlite.org/fts5.html#fts5_table_creation_and_initialization).
    private var isReserved: Bool { reserved != nil }
    private var reserved: String? { columns.first { ["rank", "rowid"].contains($0.lowercased()) } }

    /// The column, the table and the full-text index, in quotes where they need them.
    private var column: String { StatementText.quoted(search.column) }
    private var searched: String { StatementText.quoted(table) }
    private var index: String {
        StatementText.quoted(columns.count > 1 ? "\(table)_search" : "\(table)_\(search.column)_search")
    }

    /// Statements that create an index of every three characters, and search with it.
    var code: [String] {
        if let existing {
            let name = StatementText.quoted(existing)
            return ["SELECT … FROM \(searched) WHERE rowid IN (SELECT rowid FROM \(name) WHERE \(name) MATCH ?)"]
        }
        if isReserved { return [] }
        let creation = [
            "CREATE VIRTUAL TABLE \(index) USING fts5(\(columns.map(StatementText.quoted).joined(separator: ", ")), content = \(searched), tokenize = 'trigram')",
            "INSERT INTO \(index)(\(index)) VALUES ('rebuild')",
        ]
        // With other conditions, the program has to decide how the search belongs to them.
        guard !text.conditions.hasAlternatives, columns.count == 1 else { return creation }
        return creation + ["SELECT … FROM \(searched) WHERE rowid IN (\(query(parameter: "?")))"]
    }

    /// The query for the keys of the rows that match.
    private func query(parameter: String) -> String {
        "SELECT rowid FROM \(index) WHERE \(column) \(search.operation) \(parameter)"
    }

    /// The search as Django's queries can have it, without the `ESCAPE` that they add and that the index does not serve.
    private var django: [Wording] {
        guard !isReserved, StatementLibrary(names: evidence.libraries) == .django, columns.count == 1,
            !text.conditions.hasAlternatives
        else {
            return []
        }
        let code =
            "\(StatementLibrary.modelName(of: table)).objects.filter(pk__in=RawSQL(\"\(query(parameter: "%s"))\", [f\"%{text}%\"]))"
        return ["In Django: \(code: code)."]
    }

    /// The index that serves patterns with a plain beginning.
    ///
    /// SQLite uses it only if it compares text as the operator does (https://sqlite.org/optoverview.html#the_like_optimization).
    var alternatives: [Wording] {
        // The column often has an index for other comparisons, with the usual name.
        let isLike = search.operation == "LIKE"
        let name = StatementText.quoted("\(table)_\(search.column)\(isLike ? "_nocase" : "_binary")")
        let collation = isLike ? " COLLATE NOCASE" : ""
        let copy: [Wording] =
            isReserved
            ? []
            : [
                "A table WITHOUT ROWID needs a full-text table that keeps a copy of the texts: leave out \(code: "content")."
            ]
        let creation: Wording = "\(code: "CREATE INDEX \(name) ON \(searched)(\(column)\(collation))")."
        return (existing == nil ? django + copy : []) + [
            hasComposedPattern
                ? "If the patterns begin with plain text, pass each as one value, not as parts joined by \(code: "||"), so that an index "
                    + "serves it: " + creation
                : "If the patterns begin with plain text, an index serves them: " + creation
        ]
    }

    var explanation: [Wording] {
        [
            "\(count: evidence.executions, "run") of \(code: Phrase.shortened(text.summary, to: 90)) compared the texts of "
                + "\(decimal: evidence.steppedRows, places: 0, of: .rows) rows to find \(count: evidence.rows), in "
                + "\(duration: evidence.time)."
        ]
    }
}
