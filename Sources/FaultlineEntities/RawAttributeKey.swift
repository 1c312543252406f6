/// The name of an attribute that stores the raw values of a type, such as an enumeration; see `AttributeKey`.
public final class RawAttributeKey<Value: RawRepresentable & Sendable>: Sendable
where Value.RawValue: AttributeScalar & AttributeRepresentable {
    @usableFromInline let rawKey: AttributeKey<Value.RawValue?>
    @usableFromInline let defaultValue: Value

    /// Creates a key for an attribute.
    ///
    /// - Parameters:
    ///   - name: the name of the attribute in the model.
    ///   - defaultValue: the value to read if the stored raw value is missing or unknown to the type, for example
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
    public static var attributeType: AttributeType? { Value.RawValue.attributeType }
    /// Whether the attribute may have no value: no.
    public static var isOptional: Bool { false }
    /// Returns the raw value as the model stores it as a default; `nil` if there is none.
    public static func attributeValue(of value: Value) -> AttributeValue? { value.rawValue.attributeValue }
}

extension OptionalRawAttributeKey: AttributeDeclaringKey {
    /// The name of the attribute.
    public var name: String { rawKey.name }
    public static var attributeType: AttributeType? { Value.RawValue.attributeType }
    /// Whether the attribute may have no value: yes.
    public static var isOptional: Bool { true }
    /// Returns the raw value as the model stores it as a default; `nil` if there is none.
    public static func attributeValue(of value: Value?) -> AttributeValue? { value?.rawValue.attributeValue }
}
