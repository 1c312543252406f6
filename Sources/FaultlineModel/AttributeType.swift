/// What an attribute holds.
///
/// The raw value is the word that model files and traces use.
public enum AttributeType: String, Sendable, Hashable, CaseIterable {
    /// Anything, and never stored: only for transient attributes.
    case undefined = "Undefined"
    case integer16 = "Integer 16"
    case integer32 = "Integer 32"
    case integer64 = "Integer 64"
    /// A decimal number. Up to 15 significant digits are stored as a number that SQLite can compare; more are kept
    /// exactly, but sort behind all others.
    case decimal = "Decimal"
    case double = "Double"
    case float = "Float"
    case string = "String"
    case boolean = "Boolean"
    /// A point in time, stored as seconds since 2001-01-01 00:00 UTC.
    case date = "Date"
    case binary = "Binary"
    /// A UUID, stored as its 16 bytes.
    case uuid = "UUID"
    /// A URL, stored as its text.
    case uri = "URI"
    /// A value of any type, stored as the bytes that the attribute's transformer makes of it.
    case transformable = "Transformable"
    /// A value that is made of attributes; see ``CompositeAttributeDescription``.
    case composite = "Composite"

    /// The type of the column in `CREATE TABLE`.
    package var columnType: String {
        switch self {
        case .integer16, .integer32, .integer64, .boolean: "INTEGER"
        case .decimal: "DECIMAL"
        case .double, .float: "FLOAT"
        case .string, .uri: "VARCHAR"
        case .date: "TIMESTAMP"
        case .binary, .uuid, .transformable, .undefined, .composite: "BLOB"
        }
    }

    /// Where the column stands in its table: columns are grouped by type.
    ///
    /// The order is that of tables that Core Data made: integers, times with floating-point numbers, decimals, text,
    /// UUIDs, other blobs.
    package var columnGroup: Int {
        switch self {
        case .integer16, .integer32, .integer64, .boolean: 0
        case .date, .double, .float: 2
        case .decimal: 3
        case .string, .uri: 4
        case .uuid: 5
        case .binary, .transformable, .undefined, .composite: 6
        }
    }
}
