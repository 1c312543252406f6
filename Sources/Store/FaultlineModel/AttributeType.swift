/// The type of an attribute's values.
///
/// The raw value is the word in model files and traces.
public enum AttributeType: String, Sendable, Hashable, CaseIterable {
    /// Any value, never stored; only for transient attributes.
    case undefined = "Undefined"
    /// A signed integer of 16 bits.
    case integer16 = "Integer 16"
    /// A signed integer of 32 bits.
    case integer32 = "Integer 32"
    /// A signed integer of 64 bits.
    case integer64 = "Integer 64"
    /// A decimal number.
    ///
    /// Numbers of up to 15 significant digits are stored in a form that SQLite can compare. Longer ones are stored
    /// exactly, but sort after all others.
    case decimal = "Decimal"
    /// A floating-point number of 64 bits.
    case double = "Double"
    /// A floating-point number of 32 bits.
    case float = "Float"
    /// Text.
    case string = "String"
    /// True or false, stored as 1 or 0.
    case boolean = "Boolean"
    /// A point in time, stored as seconds since 2001-01-01 00:00 UTC.
    case date = "Date"
    /// Bytes.
    case binary = "Binary"
    /// A UUID, stored as its 16 bytes.
    case uuid = "UUID"
    /// A URL, stored as its text.
    case uri = "URI"
    /// A value of any type, stored as the bytes that the attribute's transformer produces.
    case transformable = "Transformable"
    /// A value composed of attributes; see ``CompositeAttributeDescription``.
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

    /// The position of the column in its table, where columns are grouped by type.
    ///
    /// The order is that of Core Data's tables: integers, times with floating-point numbers, decimals, text, UUIDs,
    /// other blobs.
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
