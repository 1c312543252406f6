public import Foundation

/// The value of an attribute, or a constant in a predicate.
///
/// Literals convert to it where the type is expected: `FetchPredicate.comparison("price", .greaterThan, 3)`.
public enum AttributeValue: Sendable, Hashable {
    /// An integer, of any attribute type for integers.
    case integer(Int64)
    /// A decimal number.
    case decimal(Decimal)
    /// A floating-point number, of 64 or 32 bits.
    case double(Double)
    /// Text.
    case string(String)
    /// True or false.
    case boolean(Bool)
    /// A point in time.
    case date(Date)
    /// Bytes, which are also the stored form of a transformable attribute.
    case binary(Data)
    /// A UUID.
    case uuid(UUID)
    /// A URI.
    case uri(URL)

    /// Whether an attribute of that type can store the value.
    @inlinable
    public func fits(_ type: AttributeType) -> Bool {
        switch (self, type) {
        case (.integer(let value), .integer16): Int16(exactly: value) != nil
        case (.integer(let value), .integer32): Int32(exactly: value) != nil
        case (.integer, .integer64), (.decimal, .decimal), (.double, .double), (.double, .float), (.string, .string),
            (.boolean, .boolean), (.date, .date), (.binary, .binary), (.binary, .transformable), (.uuid, .uuid),
            (.uri, .uri), (_, .undefined):
            true
        default: false
        }
    }
}

extension AttributeValue: ExpressibleByIntegerLiteral {
    /// Creates an integer.
    public init(integerLiteral value: Int64) { self = .integer(value) }
}

extension AttributeValue: ExpressibleByFloatLiteral {
    /// Creates a double.
    public init(floatLiteral value: Double) { self = .double(value) }
}

extension AttributeValue: ExpressibleByStringLiteral {
    /// Creates one from text in quotation marks.
    public init(stringLiteral value: String) { self = .string(value) }
}

extension AttributeValue: ExpressibleByBooleanLiteral {
    /// Creates a Boolean.
    public init(booleanLiteral value: Bool) { self = .boolean(value) }
}

extension AttributeValue: CustomStringConvertible {
    /// The value as written in a predicate: text in double quotes, everything else bare.
    public var description: String {
        switch self {
        case .integer(let value): String(value)
        case .decimal(let value): value.description
        case .double(let value): String(value)
        case .string(let value): "\"\(value)\""
        case .boolean(let value): value ? "1" : "0"
        case .date(let value): "CAST(\(value.timeIntervalSinceReferenceDate), \"NSDate\")"
        case .binary(let value): "<\(value.count) bytes>"
        case .uuid(let value): value.uuidString
        case .uri(let value): value.absoluteString
        }
    }
}
