import FaultlineModel

/// One side of a comparison as SQL.
struct SQLOperand {
    /// What is known about its values.
    enum ValueType {
        case attribute(AttributeType)
        /// A key, with the entity of the objects.
        case object(EntitySchema)
    }

    /// With the space in front of a column that Core Data puts there.
    var sql: String
    var type: ValueType
    /// Whether it may have no value.
    var isOptional: Bool
    /// The property that it is, if it is one; it can be written more than once, as nothing is bound to it.
    var property: PropertySchema?
    /// The constant that it is, if it is one.
    var constant: AttributeValue?
    /// The column beside it that holds its text without regard to case and diacritics, if there is one.
    var canonical: String?
    /// As the predicate has it.
    var text: String

    /// The type in words.
    var typeText: String {
        switch type {
        case .attribute(let type): "of type \(type.rawValue)"
        case .object(let entity): "an object of \(entity.name)"
        }
    }

    var attributeType: AttributeType? {
        if case .attribute(let type) = type { type } else { nil }
    }
}

extension AttributeType {
    /// What values are compared with: only values of one domain have an order among each other.
    enum Domain {
        case number, text, date, uuid, bytes, other
    }

    var domain: Domain {
        switch self {
        case .integer16, .integer32, .integer64, .boolean, .double, .float, .decimal: .number
        case .string, .uri: .text
        case .date: .date
        case .uuid: .uuid
        case .binary, .transformable: .bytes
        case .undefined, .composite: .other
        }
    }

    var isInteger: Bool {
        switch self {
        case .integer16, .integer32, .integer64, .boolean: true
        default: false
        }
    }
}

extension AttributeValue {
    /// The type of a constant.
    var type: AttributeType {
        switch self {
        case .integer: .integer64
        case .decimal: .decimal
        case .double: .double
        case .string: .string
        case .boolean: .boolean
        case .date: .date
        case .binary: .binary
        case .uuid: .uuid
        case .uri: .uri
        }
    }
}
