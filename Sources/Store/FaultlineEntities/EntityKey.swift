/// Creates the keys of an entity's properties from the types of their variables.
///
/// Called by expansions of
/// ``Attribute(_:type:isOptional:minimumValue:maximumValue:regularExpression:renamingIdentifier:versionHashModifier:userInfo:)``
/// and
/// ``Relationship(deleteRule:inverse:isOptional:minimumCount:maximumCount:renamingIdentifier:versionHashModifier:userInfo:)``,
/// because a macro sees the spelling of a type, not the type itself; overload resolution selects the key.
public enum EntityKey {
    /// Returns the key of an attribute.
    @inlinable
    public static func make<Value: AttributeRepresentable>(
        _ name: String, _ type: Value.Type, default: Value? = nil
    ) -> AttributeKey<Value> { AttributeKey(name) }

    /// Returns the key of a to-one relationship.
    @inlinable
    public static func make<Destination: ManagedObject>(
        _ name: String, _ type: Destination?.Type
    ) -> ToOneKey<Destination> { ToOneKey(name) }

    /// Returns the key of a to-many relationship.
    @inlinable
    public static func make<Destination: ManagedObject>(
        _ name: String, _ type: ToMany<Destination>.Type
    ) -> ToManyKey<Destination> { ToManyKey(name) }

    /// Returns the key of an ordered to-many relationship.
    @inlinable
    public static func make<Destination: ManagedObject>(
        _ name: String, _ type: OrderedToMany<Destination>.Type
    ) -> OrderedToManyKey<Destination> { OrderedToManyKey(name) }

    /// Returns the key of an attribute that stores raw values.
    @_disfavoredOverload
    @inlinable
    public static func make<Value: RawRepresentable & Sendable>(
        _ name: String, _ type: Value.Type, default defaultValue: Value
    ) -> RawAttributeKey<Value> where Value.RawValue: AttributeScalar & AttributeRepresentable {
        RawAttributeKey(name, default: defaultValue)
    }

    /// Returns the key of an optional attribute that stores raw values.
    @_disfavoredOverload
    @inlinable
    public static func make<Value: RawRepresentable & Sendable>(
        _ name: String, _ type: Value?.Type, default defaultValue: Value? = nil
    ) -> OptionalRawAttributeKey<Value> where Value.RawValue: AttributeScalar & AttributeRepresentable {
        OptionalRawAttributeKey(name)
    }

    // The compiler chooses the following overloads if none above fits; their messages explain the variable's type
    // error.

    /// Never called: the compiler reports the type of the variable.
    @available(
        *, unavailable,
        message:
            "an attribute with raw values needs an initial value to use in place of raw values that its type does not have; give it one, or make it optional"
    )
    @_disfavoredOverload
    public static func make<Value: RawRepresentable & Sendable>(
        _ name: String, _ type: Value.Type
    ) -> UnsupportedKey<Value> where Value.RawValue: AttributeScalar & AttributeRepresentable { UnsupportedKey() }

    /// Never called: the compiler reports the type of the variable.
    @available(
        *, unavailable,
        message:
            "neither an attribute nor a relationship can have this type; mark the property with @EntityIgnored if it does not belong to the entity"
    )
    @_disfavoredOverload
    public static func make<Value>(
        _ name: String, _ type: Value.Type, default: Value? = nil
    ) -> UnsupportedKey<Value> { UnsupportedKey() }
}

/// The key of a variable that cannot be a property, which keeps the compiler from reporting further errors.
public struct UnsupportedKey<Value>: Sendable {}

extension ManagedObject {
    /// Never called, because programs with such a key do not compile.
    public final subscript<Value>(key: UnsupportedKey<Value>) -> Value {
        get { fatalError("There is no key.") }
        set { fatalError("There is no key.") }
    }
}

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
    /// The type of an attribute with such values.
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

/// The name of an attribute that stores the raw values of a type, such as an enumeration; see `AttributeKey`.
public final class RawAttributeKey<Value: RawRepresentable & Sendable>: Sendable
where Value.RawValue: AttributeScalar & AttributeRepresentable {
    @usableFromInline let rawKey: AttributeKey<Value.RawValue?>
    @usableFromInline let defaultValue: Value

    /// Creates a key for an attribute.
    ///
    /// - Parameters:
    ///   - name: The name of the attribute in the model.
    ///   - defaultValue: The value to read if the stored raw value is missing or unknown to the type, for example
    ///     because another version of the program set it.
    @inlinable
    public init(_ name: String, default defaultValue: Value) {
        rawKey = AttributeKey(name)
        self.defaultValue = defaultValue
    }
}

/// The name of an optional attribute that stores the raw values of a type; see ``RawAttributeKey``.
///
/// A raw value that is unknown to the type reads as `nil`.
public final class OptionalRawAttributeKey<Value: RawRepresentable & Sendable>: Sendable
where Value.RawValue: AttributeScalar & AttributeRepresentable {
    @usableFromInline let rawKey: AttributeKey<Value.RawValue?>

    /// Creates a key for the attribute with that name.
    @inlinable
    public init(_ name: String) {
        rawKey = AttributeKey(name)
    }
}

extension ManagedObject {
    /// The value for the raw value that an attribute stores.
    @inlinable
    public final subscript<Value>(key: RawAttributeKey<Value>) -> Value {
        get { self[key.rawKey].flatMap { Value(rawValue: $0) } ?? key.defaultValue }
        set { self[key.rawKey] = newValue.rawValue }
    }

    /// The value for the raw value that an attribute stores, or `nil`.
    @inlinable
    public final subscript<Value>(key: OptionalRawAttributeKey<Value>) -> Value? {
        get { self[key.rawKey].flatMap { Value(rawValue: $0) } }
        set { self[key.rawKey] = newValue?.rawValue }
    }
}

extension RawAttributeKey: AttributeDeclaringKey {
    /// The name of the attribute.
    public var name: String { rawKey.name }
    /// The type of an attribute with such values.
    public static var attributeType: AttributeType? { Value.RawValue.attributeType }
    /// Whether the attribute may have no value: no.
    public static var isOptional: Bool { false }
    /// Returns the raw value as the model stores it as a default; `nil` if there is none.
    public static func attributeValue(of value: Value) -> AttributeValue? { value.rawValue.attributeValue }
}

extension OptionalRawAttributeKey: AttributeDeclaringKey {
    /// The name of the attribute.
    public var name: String { rawKey.name }
    /// The type of an attribute with such values.
    public static var attributeType: AttributeType? { Value.RawValue.attributeType }
    /// Whether the attribute may have no value: yes.
    public static var isOptional: Bool { true }
    /// Returns the raw value as the model stores it as a default; `nil` if there is none.
    public static func attributeValue(of value: Value?) -> AttributeValue? { value?.rawValue.attributeValue }
}
