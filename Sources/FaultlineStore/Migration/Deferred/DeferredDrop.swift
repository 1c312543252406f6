/// A table or a column that a migration left behind, for the program to remove later.
struct DeferredDrop: Hashable {
    let table: String
    /// `nil` for the table itself.
    let column: String?

    /// The beginning of the names of tables that were left behind.
    static let prefix = "Z_FAULTLINE_DROPPED_"

    /// A column of a table that continues.
    init(column: String, of table: String) {
        (self.table, self.column) = (table, column)
    }

    /// A table that does not continue, under its new name.
    init(table: String) {
        (self.table, column) = (Self.prefix + table, nil)
    }

    /// Reads what ``text`` writes.
    ///
    /// - Returns: `nil` for other texts, and for tables that no migration left behind.
    init?(text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        switch parts.count {
        case 1 where parts[0].hasPrefix(Self.prefix): (table, column) = (parts[0], nil)
        case 2 where parts[0].hasPrefix("Z") && parts[1].hasPrefix("Z"): (table, column) = (parts[0], parts[1])
        default: return nil
        }
    }

    /// How the metadata names it: `ZNOTE.ZTEXT`, or a table's name.
    var text: String { column.map { "\(table).\($0)" } ?? table }

    /// The statement that removes it.
    var sql: String {
        let table = StoreStructure.quoted(table)
        return column.map { "ALTER TABLE \(table) DROP COLUMN \(StoreStructure.quoted($0))" }
            ?? "DROP TABLE IF EXISTS \(table)"
    }
}
