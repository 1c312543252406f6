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
        let words = sql.split { " (\n\t".contains($0) }
        guard let verb = words.first.flatMap({ Verb(rawValue: $0.uppercased()) }) else { return nil }
        self.verb = verb
        var rest = words.dropFirst()
        if rest.first?.uppercased() == "OR" { rest = rest.dropFirst(2) }
        if let word = rest.first?.uppercased(), word == "INTO" || word == "FROM" { rest = rest.dropFirst() }
        guard let table = rest.first else { return nil }
        self.table = table.filter { !"\"`[];".contains($0) }
        rows = verb == .insert ? Self.inserted(sql) : Self.changed(sql)
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
    private static func inserted(_ sql: String) -> UInt64? {
        guard let values = sql.uppercased().firstRange(of: "VALUES") else { return nil }
        var (depth, lists): (Int, UInt64) = (0, 0)
        var rest = sql[values.upperBound...]
        if let conflict = rest.firstRange(of: " ON CONFLICT") { rest = rest[..<conflict.lowerBound] }
        for character in rest {
            if character == "(" {
                if depth == 0 { lists += 1 }
                depth += 1
            } else if character == ")" {
                depth -= 1
            }
        }
        return lists == 0 ? nil : lists
    }

    /// The rows of an UPDATE or a DELETE: the number of keys in its condition.
    private static func changed(_ sql: String) -> UInt64? {
        if sql.firstMatch(of: /\bZ_PK\s*=\s*(\?|\d+)/) != nil { return 1 }
        guard let list = sql.firstMatch(of: /\bZ_PK\s+IN\s*\(([\s\d?,]+)\)/)?.1 else { return nil }
        return UInt64(list.split(separator: ",").count)
    }
}
