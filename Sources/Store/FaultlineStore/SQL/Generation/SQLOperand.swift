import FaultlineModel

/// One side of a comparison, in SQL.
struct SQLOperand {
    /// The type of the side's values.
    enum ValueType {
        case attribute(AttributeType)
        /// A key, with the entity of the object.
        case object(EntitySchema)
    }

    /// With the leading space that Core Data writes before a column.
    var sql: String
    var type: ValueType
    /// Whether it can be NULL.
    var isOptional: Bool
    /// The property, if the side is one; its SQL can be repeated, because it has no bound values.
    var property: PropertySchema?
    /// The constant, if the side is one.
    var constant: AttributeValue?
    /// The column with the folded copy of its text, if there is one.
    var canonical: String?
    /// The operand as the predicate writes it.
    var text: String

    /// The type, in words.
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
    /// The domain of a type: only values of the same domain can be compared.
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
