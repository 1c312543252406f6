import FaultlineTrace

/// What a SELECT of Core Data's asks for, read from its text.
///
///     SELECT 0, t0.Z_PK, t0.Z_OPT, t0.ZTITLE FROM ZBOOK t0 WHERE  t0.ZSHELF = ? ORDER BY t0.ZTITLE LIMIT 100
struct SelectText {
    /// The table of the entity that is fetched: `ZBOOK`.
    let table: String
    /// What stands behind WHERE, with `?` for values.
    let predicate: String
    let sort: [String]
    let isLimited: Bool
    /// Columns that are compared with one value each, from left to right; `nil`: something else is asked as well.
    let terms: [ShapeEntry.Term]?
    /// How many values are bound.
    let values: Int

    init?(_ sql: String) {
        let clauses = Self.clauses(sql)
        guard let from = clauses["FROM"], let table = Self.table(from) else { return nil }
        self.table = table
        predicate = clauses["WHERE"] ?? ""
        sort = (clauses["ORDER BY"] ?? "").split(separator: ",").map { key in
            let words = key.split(separator: " ")
            return Self.column(words.first ?? "") + (words.last == "DESC" ? " descending" : " ascending")
        }
        isLimited = clauses["LIMIT"] != nil
        values = sql.utf8.count { $0 == UInt8(ascii: "?") }
        terms = predicate.isEmpty ? [] : Self.terms(predicate)
    }

    /// The clauses of a statement, those in parentheses left where they are.
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

    /// The table that is called t0, or else the first.
    private static func table(_ from: String) -> String? {
        let words = from.split(separator: " ")
        let place = words.firstIndex(of: "t0").map { $0 - 1 } ?? 0
        return words.indices.contains(place) ? String(words[place]) : nil
    }

    private static func column(_ word: some StringProtocol) -> String {
        String(word.split(separator: ".").last ?? "")
    }

    /// The terms of `t0.ZSHELF = ? AND t0.ZPAGES > ?`.
    private static func terms(_ predicate: String) -> [ShapeEntry.Term]? {
        let operations = ["=": "==", "<": "<", ">": ">", "<=": "<=", ">=": ">=", "<>": "!=", "!=": "!="]
        var terms: [ShapeEntry.Term] = []
        let words = predicate.split(separator: " ").map(String.init).filter { $0 != "(" && $0 != ")" }
        for part in words.split(separator: "AND") {
            let part = Array(part)
            guard part.count == 3, let operation = operations[part[1]], part[2] == "?", part[0].hasPrefix("t") else {
                return nil
            }
            let column = column(part[0])
            terms.append(
                ShapeEntry.Term(keyPath: column == "Z_PK" ? "SELF" : column, operation: operation))
        }
        return terms
    }
}
