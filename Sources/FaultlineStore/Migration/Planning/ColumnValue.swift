import FaultlineModel
import Foundation

/// The SQL expression that gives a column its value, from the row that the older version has.
struct ColumnValue: Hashable {
    /// The older column on which the value is based, if there is one.
    var column: String?
    var sql: String
    /// Whether the expression gives another value than the column's own only where that is NULL.
    var replacesOnlyNull = false

    static let null = ColumnValue(sql: "NULL")

    static func column(_ name: String) -> ColumnValue { ColumnValue(column: name, sql: name) }

    /// Whether the value is that of the older column, unchanged.
    var isUnchanged: Bool { column == sql }
}

extension SQLValue {
    /// The value as a literal in SQL.
    var literal: String {
        switch self {
        case .null: "NULL"
        case .integer(let value): String(value)
        // SQLite reads the shortest text that stands for a number as that number; infinity it has none for.
        case .real(let value): value.isInfinite ? (value < 0 ? "-9e999" : "9e999") : String(value)
        case .text(let value): Self.literal(value)
        case .blob(let value): "x'" + value.map { String(format: "%02x", $0) }.joined() + "'"
        }
    }

    /// SQLite ends the text of a statement at a zero byte, so a text that contains one is written as bytes.
    private static func literal(_ text: String) -> String {
        if text.utf8.contains(0) { return "CAST(\(SQLValue.blob(Data(text.utf8)).literal) AS TEXT)" }
        return "'" + text.replacing("'", with: "''") + "'"
    }
}
