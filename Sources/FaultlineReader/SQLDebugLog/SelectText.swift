import FaultlineTrace
import Foundation

/// What a SELECT of Core Data's asks for, read from its text.
///
///     SELECT 0, t0.Z_PK, t0.Z_OPT, t0.ZTITLE FROM ZBOOK t0 WHERE  t0.ZSHELF = ? ORDER BY t0.ZTITLE LIMIT 100
struct SelectText {
    /// The table of the entity that is fetched: `ZBOOK`.
    let table: String
    /// Columns of its properties that are returned: `ZTITLE`, `ZSHELF`.
    let columns: [String]
    /// What stands behind WHERE, with `?` for values.
    let predicate: String
    let sort: [String]
    let isLimited: Bool
    /// Rows at most, and rows that are passed over before; 0: none, or not told.
    let limit: UInt64
    let offset: UInt64
    /// Columns that are compared with one value each, from left to right; `nil`: something else is asked as well.
    let terms: [ShapeEntry.Term]?
    /// How many values are bound.
    let values: Int
    /// Whether it asks for nothing but the objects' identities, as the first part of a fetch in batches does.
    let isOfIdentities: Bool
    /// What it asks of a list of keys that the log does not print.
    let keyList: KeyList?

    enum KeyList {
        /// The rows of these objects, and nothing else, as a fetch loads its batches.
        case objects
        /// Something else.
        case other
    }

    /// What SELECTs of nothing but identities begin with.
    static let ofIdentities = ["SELECT 0, t0.Z_PK", "SELECT t0.Z_ENT, t0.Z_PK"]

    init?(_ sql: String) {
        let clauses = Self.clauses(sql)
        guard let from = clauses["FROM"], let table = Self.table(from) else { return nil }
        self.table = table
        columns = (clauses[""] ?? "").split { " ,".contains($0) }.filter { $0.hasPrefix("t0.Z") }
            .map { String($0.dropFirst(3)) }.filter { !["Z_PK", "Z_ENT", "Z_OPT"].contains($0) }
        // With the values that were not bound, nobody may learn them from a profile.
        predicate = SQLLiterals.removed(from: clauses["WHERE"] ?? "")
        sort = (clauses["ORDER BY"] ?? "").split(separator: ",").map { key in
            let words = key.split(separator: " ").map(String.init)
            // COLLATE is followed by the name of an order that is not the bytes'.
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

    /// Whether a SELECT asks for the objects of an entity, or for some of their values, and not for something of Core Data's
    /// own.
    static func isOfEntity(_ sql: String) -> Bool {
        guard let table = SelectText(sql)?.table else { return false }
        return WriteText.isOfEntity(table)
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
        return words.indices.contains(place) ? words[place].filter { $0 != "," && $0 != ";" } : nil
    }

    /// A column by its name, one of another table by its alias and its name.
    private static func column(_ word: some StringProtocol) -> String {
        word.hasPrefix("t0.") ? String(word.dropFirst(3)) : String(word)
    }

    /// The term of `NSCoreDataStringSearch(t0.ZTITLE,?,129,0)`, whose third argument has Foundation's comparison options;
    /// `nil`: it is none.
    private static func search(_ text: String) -> ShapeEntry.Term? {
        guard let match = text.wholeMatch(of: /NSCoreDataStringSearch\((t\d+\.\w+),\?,(\d+),\d+\)/),
            let number = UInt(match.2)
        else { return nil }
        let options = String.CompareOptions(rawValue: number)
        let disregarded =
            (options.contains(.caseInsensitive) ? "c" : "") + (options.contains(.diacriticInsensitive) ? "d" : "")
        let isAnchored = options.contains(.anchored)
        // A beginning that is searched so is compared by a function all the same, and no index serves it.
        guard !isAnchored || !disregarded.isEmpty else { return nil }
        let operation = !isAnchored ? "CONTAINS" : options.contains(.backwards) ? "ENDSWITH" : "BEGINSWITH"
        return ShapeEntry.Term(
            keyPath: column(match.1), operation: operation, options: disregarded.isEmpty ? nil : disregarded)
    }

    /// The terms of `t0.ZSHELF = ? AND t0.ZPAGES > ?`, in parentheses or not.
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
        // Core Data writes the value first where the predicate does: "? <= t0.ZTIME".
        let isTurned = words[0] == "?"
        let turned = ["<": ">", ">": "<", "<=": ">=", ">=": "<="]
        let name = isTurned ? words[2] : words[0]
        guard name.hasPrefix("t"), name.contains(".") else { return nil }
        let column = column(name)
        return ShapeEntry.Term(
            keyPath: column == "Z_PK" ? "SELF" : column,
            operation: isTurned ? turned[operation] ?? operation : operation)
    }

    /// A condition without the parentheses that stand around all of it.
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

    /// A condition cut at a word that stands in no parentheses.
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
