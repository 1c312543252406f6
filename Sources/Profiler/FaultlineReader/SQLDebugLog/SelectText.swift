import FaultlineTrace
import Foundation

/// A SELECT of Core Data, parsed from its text.
///
///     SELECT 0, t0.Z_PK, t0.Z_OPT, t0.ZTITLE FROM ZBOOK t0 WHERE  t0.ZSHELF = ? ORDER BY t0.ZTITLE LIMIT 100
struct SelectText {
    /// The table of the fetched entity: `ZBOOK`.
    let table: String
    /// Columns of its properties in the result: `ZTITLE`, `ZSHELF`.
    let columns: LoadedColumns
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
    private static let ofIdentities = ["SELECT 0, t0.Z_PK", "SELECT t0.Z_ENT, t0.Z_PK"]

    /// - Complexity: O(*n*).
    init?(_ sql: String) {
        let clauses = Self.clauses(sql)
        guard let from = clauses["FROM"], let table = Self.table(from) else { return nil }
        self.table = table
        columns = LoadedColumns(
            (clauses[""] ?? "").utf8.split { $0 == 0x20 || $0 == UInt8(ascii: ",") }.map { Substring($0) }
                .filter { $0.begins(with: "t0.Z") }.map { String(Self.column($0)) }
                .filter { !["Z_PK", "Z_ENT", "Z_OPT"].contains($0) })
        // Values that were not bound are removed to keep them out of profiles.
        predicate = SQLLiterals.removed(from: clauses["WHERE"] ?? "")
        sort = (clauses["ORDER BY"] ?? "").utf8.split(separator: UInt8(ascii: ",")).map { key in
            let words = Self.words(Substring(key))
            // COLLATE is followed by the name of a collation.
            let order = words.firstIndex(of: "COLLATE").map { words.dropFirst($0 + 1).prefix(1) } ?? []
            let direction: Substring = words.last == "DESC" ? "descending" : "ascending"
            return ([Self.column(words.first ?? "")] + order + [direction]).joined(separator: " ")
        }
        isLimited = clauses["LIMIT"] != nil
        let window = Self.words((clauses["LIMIT"] ?? "")[...]).map { UInt64($0) ?? 0 }
        limit = window.first ?? 0
        offset = window.count == 3 ? window[2] : 0
        values = sql.utf8.count { $0 == UInt8(ascii: "?") }
        terms = predicate.isEmpty ? [] : ConditionText.terms(predicate)
        isOfIdentities = clauses[""].map(Self.ofIdentities.contains) ?? false
        if predicate[...].begins(with: "t0.Z_PK IN (SELECT * FROM _Z_intarray"), !predicate[...].has(" AND ") {
            keyList = .objects
        } else {
            keyList = predicate[...].has("_Z_intarray") ? .other : nil
        }
    }

    private static let names: [StaticString] = ["FROM", "WHERE", "GROUP", "HAVING", "ORDER", "LIMIT"]

    /// Splits a statement into clauses, leaving those in parentheses intact.
    private static func clauses(_ sql: String) -> [String: String] {
        var clauses: [String: String] = [:]
        var name = ""
        var text: [UInt8] = []
        func finish() {
            if clauses[name] == nil { clauses[name] = String(decoding: text, as: UTF8.self) }
            text = []
        }
        sql[...].withBytes { bytes in
            var depth = 0
            var end = 0
            while case let word = bytes.word(from: end), !word.isEmpty {
                end = word.upperBound
                if depth == 0, let next = names.first(where: { bytes.isWord($0, in: word) }) {
                    finish()
                    name = "\(next)"
                    if name == "ORDER" || name == "GROUP" { name += " BY" }
                    continue
                }
                if text.isEmpty, name.hasSuffix(" BY"), bytes.isWord("BY", in: word) { continue }
                depth += bytes.depth(of: word)
                if !text.isEmpty { text.append(0x20) }
                text += bytes[word]
            }
        }
        finish()
        return clauses
    }

    /// The table with the alias t0, or else the first.
    private static func table(_ from: String) -> String? {
        let words = words(from[...])
        let position = words.firstIndex(of: "t0").map { $0 - 1 } ?? 0
        return words.indices.contains(position) ? words[position].filter { $0 != "," && $0 != ";" } : nil
    }

    private static func words(_ text: Substring) -> [Substring] {
        text.utf8.split(separator: 0x20).map { Substring($0) }
    }

    /// A column's name, preceded by its alias if it belongs to another table.
    static func column(_ word: Substring) -> Substring { word.behind("t0.") ?? word }
}
