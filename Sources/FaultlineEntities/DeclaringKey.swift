/// A key from which an attribute's description is derived.
public protocol AttributeDeclaringKey {
    /// The type of the attribute's values; an optional if the attribute is optional.
    associatedtype Value

    /// The name of the attribute.
    var name: String { get }
    /// The attribute type for the key's values; `nil` if several types fit.
    static var attributeType: AttributeType? { get }
    /// Whether the attribute may have no value.
    static var isOptional: Bool { get }
    /// Returns a value as the model stores it as a default; `nil` if there is none.
    static func attributeValue(of value: Value) -> AttributeValue?
}

/// A key from which a relationship's description is derived.
public protocol RelationshipDeclaringKey {
    /// The name of the relationship.
    var name: String { get }
    /// The class of the related objects, and whether the relationship is to-many and ordered.
    static var relationship: (destination: ManagedObject.Type, isToMany: Bool, isOrdered: Bool) { get }
}

extension AttributeKey: AttributeDeclaringKey {
    public static var attributeType: AttributeType? {
        let type = (Value.self as? any OptionalValue.Type)?.wrapped ?? Value.self
        return (type as? any AttributeScalar.Type)?.attributeType
    }

    /// Whether the key's values are optionals.
    public static var isOptional: Bool { Value.self is any OptionalValue.Type }

    /// Returns a value as the model stores it as a default; `nil` if there is none.
    public static func attributeValue(of value: Value) -> AttributeValue? { value._attributeValue }
}

extension ToOneKey: RelationshipDeclaringKey {
    /// The class of the related object; the relationship is neither to-many nor ordered.
    public static var relationship: (destination: ManagedObject.Type, isToMany: Bool, isOrdered: Bool) {
        (Destination.self, false, false)
    }
}

extension ToManyKey: RelationshipDeclaringKey {
    /// The class of the related objects; the relationship is to-many and not ordered.
    public static var relationship: (destination: ManagedObject.Type, isToMany: Bool, isOrdered: Bool) {
        (Destination.self, true, false)
    }
}

extension OrderedToManyKey: RelationshipDeclaringKey {
    /// The class of the related objects; the relationship is to-many and ordered.
    public static var relationship: (destination: ManagedObject.Type, isToMany: Bool, isOrdered: Bool) {
        (Destination.self, true, true)
    }
}

private protocol OptionalValue {
    static var wrapped: Any.Type { get }
}

extension Optional: OptionalValue {
    fileprivate static var wrapped: Any.Type { Wrapped.self }
}

extension AttributeScalar {
    /// The attribute type that stores exactly the values of this type; `nil` if there is no single one.
    static var attributeType: AttributeType? {
        if self is Int16.Type { return .integer16 }
        if self is Int32.Type { return .integer32 }
        if self is Float.Type { return .float }
        if self is AttributeValue.Type { return nil }
        return switch zeroValue.attributeValue {
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
