/// A write statement of Core Data, parsed from its text.
///
///     UPDATE OR FAIL ZBOOK SET ZTITLE = ?, Z_OPT = ?  WHERE Z_PK = ? AND Z_OPT = ?
struct WriteText {
    enum Verb: String {
        case insert = "INSERT"
        case update = "UPDATE"
        case delete = "DELETE"
    }

    var verb: Verb
    var table: String
    /// The number of rows it writes; `nil` if the text does not show it, as with a batch request.
    var rows: UInt64?

    /// - Returns: `nil` if it is another kind of statement.
    init?(_ sql: String) {
        // The words before the table, and the table: DELETE FROM, UPDATE OR FAIL, INSERT OR REPLACE INTO.
        let words = sql.utf8.split(maxSplits: 5) { $0 == 0x20 || $0 == 0x28 || $0 == 0x0A || $0 == 0x09 }
            .map { Substring($0) }
        guard let verb = words.first.flatMap({ Verb(rawValue: $0.uppercased()) }) else { return nil }
        self.verb = verb
        var rest = words.dropFirst()
        if rest.first?.uppercased() == "OR" { rest = rest.dropFirst(2) }
        if let word = rest.first?.uppercased(), word == "INTO" || word == "FROM" { rest = rest.dropFirst() }
        guard let table = rest.first else { return nil }
        self.table = table.filter { !"\"`[];".contains($0) }
        rows = sql[...].withBytes { verb == .insert ? Self.inserted($0) : Self.changed($0) }
    }

    /// Whether a table holds the objects of an entity.
    ///
    /// Others are Core Data's own: keys and metadata, the join tables of many-to-many relationships (`Z_1TAGS`),
    /// persistent history (`ACHANGE`), and CloudKit's records (`ANSCKRECORDMETADATA`).
    static func isOfEntity(_ table: String) -> Bool {
        guard table.hasPrefix("Z"), table.utf8.count > 1 else { return false }
        guard table.hasPrefix("Z_") else { return true }
        let own = ["Z_PRIMARYKEY", "Z_METADATA", "Z_MODELCACHE"]
        return !own.contains(table) && table.dropFirst(2).first?.isNumber != true
    }

    /// The rows of an INSERT: the number of its value lists.
    private static func inserted(_ sql: UnsafeBufferPointer<UInt8>) -> UInt64? {
        guard let values = sql.indices.dropLast(5).first(where: { sql.isWord("VALUES", in: $0..<$0 + 6) })
        else { return nil }
        let rest = sql[values..<(sql.position(of: " ON CONFLICT", from: values) ?? sql.count)]
        var (depth, lists): (Int, UInt64) = (0, 0)
        for byte in rest {
            if byte == UInt8(ascii: "(") {
                if depth == 0 { lists += 1 }
                depth += 1
            } else if byte == UInt8(ascii: ")") {
                depth -= 1
            }
        }
        return lists == 0 ? nil : lists
    }

    /// The rows of an UPDATE or a DELETE: the number of keys in its condition, `Z_PK = ?` or `Z_PK IN (1, 2)`.
    private static func changed(_ sql: UnsafeBufferPointer<UInt8>) -> UInt64? {
        var rows: UInt64?
        var position = 0
        while let found = sql.position(of: "Z_PK", from: position) {
            position = found + 4
            if found > 0, SQLLexer.continuesWord(sql[found - 1]) { continue }
            let next = sql.end(of: \.isSpace, from: position)
            if sql.hasBytes("=", at: next) {
                let value = sql.end(of: \.isSpace, from: next + 1)
                if value < sql.count, sql[value] == UInt8(ascii: "?") || sql[value].isDigit { return 1 }
            } else if rows == nil, next > position, sql.hasBytes("IN", at: next) {
                rows = keys(sql, from: sql.end(of: \.isSpace, from: next + 2))
            }
        }
        return rows
    }

    /// The number of keys in a list in parentheses; `nil` if it contains anything else.
    private static func keys(_ sql: UnsafeBufferPointer<UInt8>, from open: Int) -> UInt64? {
        guard sql.hasBytes("(", at: open) else { return nil }
        let comma = UInt8(ascii: ",")
        let close = sql.end(
            of: { $0.isSpace || $0.isDigit || $0 == UInt8(ascii: "?") || $0 == comma }, from: open + 1)
        guard close > open + 1, sql.hasBytes(")", at: close) else { return nil }
        // Each key ends before a comma or the parenthesis.
        return UInt64(((open + 2)...close).count { ($0 == close || sql[$0] == comma) && sql[$0 - 1] != comma })
    }
}
