internal import FaultlineFindings
internal import FaultlineProfile
internal import FaultlineTrace

/// The wording of R08's findings.
struct TextSearchAdvice {
    let fetch: FetchProfile
    /// The terms that no index serves.
    let terms: [ShapeEntry.Term]
    /// The number of rows that a search compares, or `nil` if unknown.
    let candidates: Double?
    let profile: Profile

    private var entity: String { fetch.key.shape.entity }
    private var first: ShapeEntry.Term { terms[0] }
    private var remedy: TextSearchRemedy { TextSearchRemedy(first) ?? .words }
    private var operation: String { first.operation + (first.options.map { "[\($0)]" } ?? "") }

    /// The searched properties: `"Track.title, Track.composer"`.
    var properties: Wording { .properties(searched) }

    private var searched: [String] {
        terms.map { "\(entity).\($0.keyPath)" }.uniqued
    }

    /// The entity with the property that is searched first, the key path to it with a trailing period, and its name.
    private var holder: (entity: String, path: String, name: String) {
        let parts = first.keyPath.split(separator: ".").map(String.init)
        let paths = KeyPaths(profile: profile)
        var entity = entity
        for part in parts.dropLast() { entity = paths.destination(of: .init(entity: entity, name: part)) ?? entity }
        let path = parts.dropLast().map { $0 + "." }.joined()
        return (entity, path, parts.last ?? first.keyPath)
    }

    var title: Wording {
        switch remedy {
        case .words: "Search \(properties) by the beginnings of its words, not with \(code: operation)"
        case .folded: "Search a folded copy of \(properties), not \(code: operation)"
        case .reversed: "Search a reversed copy of \(properties) from its beginning, not with \(code: operation)"
        case .prefix: "Search \(properties) with BEGINSWITH, not with \(code: operation)"
        case .equality: "Compare \(properties) with ==, not with \(code: operation)"
        case .narrowed: "Put a plain BEGINSWITH in front of \(code: operation) on \(properties)"
        }
    }

    var fix: Wording {
        switch remedy {
        case .words:
            "Keep the words of the text in rows of their own, folded to one case and without diacritics, with an "
                + "index, and search for a word by its beginning. Or keep the text in one of SQLite's full-text "
                + "tables (FTS5)."
        case .folded:
            "Keep a copy of the text in one case and without diacritics in an attribute of its own, with an index, and compare that "
                + "with a folded text."
        case .reversed:
            "Keep a reversed copy of the text in an attribute of its own, with an index: the beginning of the copy is "
                + "the end of the text."
        case .prefix: "A plain prefix is a range, which an index serves."
        case .equality: "A pattern without wildcards is a plain comparison, which an index serves."
        case .narrowed: "If the pattern begins with plain text, SQLite can seek the few texts that begin with it."
        }
    }

    var code: [String] {
        let (entity, path, name) = holder
        // If only the column is known, the property has no name to write.
        if EntityEntry.isColumn(name), remedy != .words { return [] }
        let capital = name.prefix(1).uppercased() + name.dropFirst()
        switch remedy {
        case .words:
            let word = "\(entity)Word"
            return [
                "// In the model: \(entity).words: to-many \(word); \(word).text: String, with an index",
                "FetchRequest<\(word)>(predicate: PropertyPath(\"text\").beginsWith(word))",
            ]
        case .folded:
            let copy = "folded\(capital)"
            let isPrefix = first.operation == "BEGINSWITH" || first.wildcards == "trailing"
            let operation = first.operation == "LIKE" ? "==" : first.operation
            return [
                "// In the model: \(entity).\(copy): String, with an index",
                "PropertyPath(\"\(path)\(copy)\")" + (isPrefix ? ".beginsWith(folded)" : " \(operation) folded"),
            ]
        case .reversed:
            return [
                "// In the model: \(entity).reversed\(capital): String, with an index",
                "PropertyPath(\"\(path)reversed\(capital)\").beginsWith(String(ending.reversed()))",
            ]
        case .prefix: return ["PropertyPath(\"\(first.keyPath)\").beginsWith(prefix)"]
        case .equality: return ["PropertyPath(\"\(first.keyPath)\") == text"]
        case .narrowed:
            let property = "PropertyPath(\"\(first.keyPath)\")"
            let method = first.operation == "LIKE" ? "like" : "matches"
            return ["\(property).beginsWith(prefix) && \(property).\(method)(pattern)"]
        }
    }

    var explanation: [Wording] {
        let counts = fetch.counts
        let searches: Wording = "\(count: counts.executions, "search", plural: "searches")"
        let reason: Wording = "no index serves \(code: operation)."
        guard let candidates, counts.executions > 0 else {
            return ["\(searches) found \(rows: counts.rows): \(reason)"]
        }
        let one = fetch.typicalShare * counts.meanTime
        let rows: Wording = "\(decimal: candidates, places: 0, of: .rows)"
        let found: Wording = "\(count: counts.rows, of: .rows)"
        // A cheaper term excluded some texts from the comparison.
        let isNarrowed = counts.textComparisons > 0 && candidates < counts.scannedRows
        let work: Wording =
            isNarrowed
            ? "compared the texts of \(rows) of \(decimal: counts.scannedRows, places: 0, of: .rows) rows"
            : counts.executions == 1 ? "examined \(rows) rows" : "examined about \(rows) rows"
        let sentence: Wording =
            counts.executions == 1
            ? "A search \(work) to find \(found): " : "\(searches) \(work) each to find \(found) in all: "
        return [
            sentence + reason,
            "A search takes \(duration: one), and ten times as long with ten times the rows.",
        ]
    }
}
