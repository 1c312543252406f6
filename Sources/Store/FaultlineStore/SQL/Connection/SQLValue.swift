import CSQLite
package import FaultlineModel
package import Foundation

/// A value to bind to a statement.
package enum SQLValue: Hashable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case blob(Data)

    /// Creates the stored form of an attribute's value.
    package init(_ value: AttributeValue) {
        switch value {
        case .integer(let value): self = .integer(value)
        case .boolean(let value): self = .integer(value ? 1 : 0)
        case .double(let value): self = Self.kept(value).map { .real($0) } ?? .null
        case .date(let value): self = Self.kept(value.timeIntervalSinceReferenceDate).map { .real($0) } ?? .null
        case .string(let value): self = .text(value)
        case .uri(let value): self = .text(value.absoluteString)
        case .binary(let value): self = .blob(value)
        case .uuid(let value): self = withUnsafeBytes(of: value.uuid) { .blob(Data($0)) }
        case .decimal(let value): self = value.isNaN ? .null : .init(value)
        }
    }

    /// The number that SQLite stores for a number; `nil` if it stores NULL.
    ///
    /// SQLite has no NaN and stores NULL instead (https://www.sqlite.org/floatingpoint.html). Its file format has no
    /// negative zero either; adding 0 makes it positive.
    @inline(__always)
    static func kept(_ number: Double) -> Double? { number.isNaN ? nil : number + 0 }

    /// Reads a column of a statement's current row.
    init(_ row: OpaquePointer, column: Int32) {
        switch sqlite3_column_type(row, column) {
        case SQLITE_INTEGER: self = .integer(sqlite3_column_int64(row, column))
        case SQLITE_FLOAT: self = .real(sqlite3_column_double(row, column))
        case SQLITE_TEXT:
            let text = sqlite3_column_text(row, column)
            let count = Int(sqlite3_column_bytes(row, column))
            self = .text(String(decoding: UnsafeBufferPointer(start: text, count: count), as: UTF8.self))
        case SQLITE_BLOB:
            let bytes = sqlite3_column_blob(row, column)
            let count = Int(sqlite3_column_bytes(row, column))
            self = .blob(bytes.map { Data(bytes: $0, count: count) } ?? Data())
        default: self = .null
        }
    }

    /// Whether two values are bitwise identical; `==` is weaker for numbers and text.
    func isIdentical(to other: SQLValue) -> Bool {
        switch (self, other) {
        case (.real(let left), .real(let right)): left.bitPattern == right.bitPattern
        case (.text(let left), .text(let right)): left.utf8.elementsEqual(right.utf8)
        default: self == other
        }
    }

    /// Creates the stored form of a decimal.
    ///
    /// A number that SQLite can compare, if it represents the decimal exactly. Otherwise its digits as a blob, because
    /// a column with numeric affinity would convert digits in text form to a `Double`.
    private init(_ value: Decimal) {
        let text = value.description
        if let integer = Int64(text) {
            self = .integer(integer)
        } else if let number = Double(text), Self.significantDigits(text) <= 15 {
            self = .real(number)
        } else {
            self = .blob(Data(text.utf8))
        }
    }

    private static func significantDigits(_ text: String) -> Int {
        var digits = Substring(text.filter(\.isNumber))
        digits = digits.drop { $0 == "0" }
        while digits.last == "0" { digits.removeLast() }
        return digits.count
    }

    /// The form that SQLDebug prints.
    var debugText: String {
        switch self {
        case .null: "nil"
        case .integer(let value): String(value)
        case .real(let value): String(value)
        case .text(let value): "\"\(value)\""
        case .blob(let value): "<\(value.count) bytes>"
        }
    }

    /// The bytes that the value counts for in a trace.
    var byteCount: Int {
        switch self {
        case .null: 0
        case .integer, .real: 8
        case .text(let value): value.utf8.count
        case .blob(let value): value.count
        }
    }

    /// Appends the value to bytes that are hashed.
    func append(to bytes: inout [UInt8]) {
        switch self {
        case .null: bytes.append(0)
        case .integer(let value):
            bytes.append(1)
            withUnsafeBytes(of: value) { bytes.append(contentsOf: $0) }
        case .real(let value):
            bytes.append(2)
            withUnsafeBytes(of: value) { bytes.append(contentsOf: $0) }
        case .text(let value):
            bytes.append(3)
            bytes.append(contentsOf: value.utf8)
            bytes.append(0)
        case .blob(let value):
            bytes.append(4)
            bytes.append(contentsOf: value)
        }
    }
}
