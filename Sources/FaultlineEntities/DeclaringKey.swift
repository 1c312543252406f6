/// A key from which an attribute's description is derived.
public protocol AttributeDeclaringKey {
    associatedtype Value

    var name: String { get }
    /// The attribute type for the key's values; `nil` if several types fit.
    static var attributeType: AttributeType? { get }
    static var isOptional: Bool { get }
    static func attributeValue(of value: Value) -> AttributeValue?
}

/// A key from which a relationship's description is derived.
public protocol RelationshipDeclaringKey {
    var name: String { get }
    static var relationship: (destination: ManagedObject.Type, isToMany: Bool, isOrdered: Bool) { get }
}

extension AttributeKey: AttributeDeclaringKey {
    public static var attributeType: AttributeType? {
        let type = (Value.self as? any OptionalValue.Type)?.wrapped ?? Value.self
        return (type as? any AttributeScalar.Type)?.attributeType
    }

    public static var isOptional: Bool { Value.self is any OptionalValue.Type }

    public static func attributeValue(of value: Value) -> AttributeValue? { value._attributeValue }
}

extension ToOneKey: RelationshipDeclaringKey {
    public static var relationship: (destination: ManagedObject.Type, isToMany: Bool, isOrdered: Bool) {
        (Destination.self, false, false)
    }
}

extension ToManyKey: RelationshipDeclaringKey {
    public static var relationship: (destination: ManagedObject.Type, isToMany: Bool, isOrdered: Bool) {
        (Destination.self, true, false)
    }
}

extension OrderedToManyKey: RelationshipDeclaringKey {
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
