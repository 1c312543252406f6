import FaultlineTrace
import Foundation

/// A SELECT of Core Data, parsed from its text.
///
///     SELECT 0, t0.Z_PK, t0.Z_OPT, t0.ZTITLE FROM ZBOOK t0 WHERE  t0.ZSHELF = ? ORDER BY t0.ZTITLE LIMIT 100
struct SelectText {
    /// The table of the fetched entity: `ZBOOK`.
    let table: String
    /// Columns of its properties in the result: `ZTITLE`, `ZSHELF`.
    let columns: [String]
    /// The WHERE clause, with `?` for values.
    let predicate: String
    let sort: [String]
    let isLimited: Bool
    /// The maximum number of rows, and the number of rows skipped before; 0 if there is none, or it is unknown.
    let limit: UInt64
    let offset: UInt64
    /// Comparisons of a column with one value each, from left to right; `nil` if there are conditions of another form.
    let terms: [ShapeEntry.Term]?
    /// The number of bound values.
    let values: Int
    /// Whether it returns only the objects' IDs, like the first part of a batched fetch.
    let isOfIdentities: Bool
    /// The use of a list of keys that the log does not print.
    let keyList: KeyList?

    enum KeyList {
        /// Selects the rows of these objects and nothing else, as a fetch does for its batches.
        case objects
        /// Another use.
        case other
    }

    /// The beginnings of SELECTs that return only IDs.
    static let ofIdentities = ["SELECT 0, t0.Z_PK", "SELECT t0.Z_ENT, t0.Z_PK"]

    init?(_ sql: String) {
        let clauses = Self.clauses(sql)
        guard let from = clauses["FROM"], let table = Self.table(from) else { return nil }
        self.table = table
        columns = (clauses[""] ?? "").split { " ,".contains($0) }.filter { $0.hasPrefix("t0.Z") }
            .map { String($0.dropFirst(3)) }.filter { !["Z_PK", "Z_ENT", "Z_OPT"].contains($0) }
        // Values that were not bound are removed to keep them out of profiles.
        predicate = SQLLiterals.removed(from: clauses["WHERE"] ?? "")
        sort = (clauses["ORDER BY"] ?? "").split(separator: ",").map { key in
            let words = key.split(separator: " ").map(String.init)
            // COLLATE is followed by the name of a collation.
            let order = words.firstIndex(of: "COLLATE").map { words.dropFirst($0 + 1).prefix(1) } ?? []
            let direction = words.last == "DESC" ? "descending" : "ascending"
            return ([Self.column(words.first ?? "")] + order + [direction]).joined(separator: " ")
        }
        isLimited = clauses["LIMIT"] != nil
        let window = (clauses["LIMIT"] ?? "").split(separator: " ").map { UInt64($0) ?? 0 }
        limit = window.first ?? 0
        offset = window.count == 3 ? window[2] : 0
        values = sql.utf8.count { $0 == UInt8(ascii: "?") }
        terms = predicate.isEmpty ? [] : Self.terms(predicate)
        isOfIdentities = clauses[""].map(Self.ofIdentities.contains) ?? false
        if predicate.hasPrefix("t0.Z_PK IN (SELECT * FROM _Z_intarray"), !predicate.contains(" AND ") {
            keyList = .objects
        } else {
            keyList = predicate.contains("_Z_intarray") ? .other : nil
        }
    }

    /// Whether a SELECT fetches objects of an entity, or some of their values, rather than Core Data's own data.
    static func isOfEntity(_ sql: String) -> Bool {
        guard let table = SelectText(sql)?.table else { return false }
        return WriteText.isOfEntity(table)
    }

    /// Splits a statement into clauses, leaving those in parentheses intact.
    private static func clauses(_ sql: String) -> [String: String] {
        let names = ["FROM", "WHERE", "GROUP", "HAVING", "ORDER", "LIMIT"]
        var clauses: [String: String] = [:]
        var name = ""
        var depth = 0
        var words: [Substring] = []
        func finish() {
            if clauses[name] == nil { clauses[name] = words.joined(separator: " ") }
            words = []
        }
        for word in sql.split(separator: " ") {
            if depth == 0, names.contains(word.uppercased()) {
                finish()
                name = word.uppercased()
                if name == "ORDER" || name == "GROUP" { name += " BY" }
                continue
            }
            if words.isEmpty, name.hasSuffix(" BY"), word.uppercased() == "BY" { continue }
            depth += word.utf8.reduce(0) { $0 + ($1 == UInt8(ascii: "(") ? 1 : $1 == UInt8(ascii: ")") ? -1 : 0) }
            words.append(word)
        }
        finish()
        return clauses
    }

    /// The table with the alias t0, or else the first.
    private static func table(_ from: String) -> String? {
        let words = from.split(separator: " ")
        let position = words.firstIndex(of: "t0").map { $0 - 1 } ?? 0
        return words.indices.contains(position) ? words[position].filter { $0 != "," && $0 != ";" } : nil
    }

    /// A column's name, preceded by its alias if it belongs to another table.
    private static func column(_ word: some StringProtocol) -> String {
        word.hasPrefix("t0.") ? String(word.dropFirst(3)) : String(word)
    }

    /// The term for `NSCoreDataStringSearch(t0.ZTITLE,?,129,0)`, whose third argument is Foundation's comparison
    /// options; `nil` if it is another expression.
    private static func search(_ text: String) -> ShapeEntry.Term? {
        guard let match = text.wholeMatch(of: /NSCoreDataStringSearch\((t\d+\.\w+),\?,(\d+),\d+\)/),
            let number = UInt(match.2)
        else { return nil }
        let options = String.CompareOptions(rawValue: number)
        let disregarded =
            (options.contains(.caseInsensitive) ? "c" : "") + (options.contains(.diacriticInsensitive) ? "d" : "")
        let isAnchored = options.contains(.anchored)
        // A prefix search with options still calls a function, and no index serves it.
        guard !isAnchored || !disregarded.isEmpty else { return nil }
        let operation = !isAnchored ? "CONTAINS" : options.contains(.backwards) ? "ENDSWITH" : "BEGINSWITH"
        return ShapeEntry.Term(
            keyPath: column(match.1), operation: operation, options: disregarded.isEmpty ? nil : disregarded)
    }

    /// The terms of `t0.ZSHELF = ? AND t0.ZPAGES > ?`, with or without parentheses.
    private static func terms(_ predicate: String) -> [ShapeEntry.Term]? {
        let text = bare(predicate)
        guard split(text, at: "OR").count == 1 else { return nil }
        let parts = split(text, at: "AND")
        guard parts.count > 1 else { return term(text).map { [$0] } }
        var terms: [ShapeEntry.Term] = []
        for part in parts {
            guard let inner = Self.terms(part) else { return nil }
            terms += inner
        }
        return terms
    }

    private static func term(_ text: String) -> ShapeEntry.Term? {
        let words = text.split(separator: " ").map(String.init)
        if let search = search(words.joined()) { return search }
        let operations = ["=": "==", "<": "<", ">": ">", "<=": "<=", ">=": ">=", "<>": "!=", "!=": "!="]
        guard words.count == 3, words.contains("?"), let operation = operations[words[1]] else { return nil }
        // Core Data puts the value first if the predicate does: "? <= t0.ZTIME".
        let isMirrored = words[0] == "?"
        let mirrored = ["<": ">", ">": "<", "<=": ">=", ">=": "<="]
        let name = isMirrored ? words[2] : words[0]
        guard name.hasPrefix("t"), name.contains(".") else { return nil }
        let column = column(name)
        return ShapeEntry.Term(
            keyPath: column == "Z_PK" ? "SELF" : column,
            operation: isMirrored ? mirrored[operation] ?? operation : operation)
    }

    /// A condition without the parentheses around the whole of it.
    private static func bare(_ text: String) -> String {
        var text = text[...]
        while true {
            text = text.drop { $0 == " " }
            while text.last == " " { text.removeLast() }
            guard text.first == "(", text.last == ")" else { return String(text) }
            var depth = 0
            let end = text.firstIndex { character in
                depth += character == "(" ? 1 : character == ")" ? -1 : 0
                return depth == 0
            }
            guard end == text.index(before: text.endIndex) else { return String(text) }
            text = text.dropFirst().dropLast()
        }
    }

    /// Splits a condition at a word outside parentheses.
    private static func split(_ text: String, at separator: String) -> [String] {
        var (depth, parts, part): (Int, [String], [Substring]) = (0, [], [])
        for word in text.split(separator: " ") {
            if depth == 0, word == separator {
                parts.append(part.joined(separator: " "))
                part = []
                continue
            }
            depth += word.utf8.reduce(0) { $0 + ($1 == UInt8(ascii: "(") ? 1 : $1 == UInt8(ascii: ")") ? -1 : 0) }
            part.append(word)
        }
        return parts + [part.joined(separator: " ")]
    }
}
