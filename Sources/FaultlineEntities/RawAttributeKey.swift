/// The name of an attribute that keeps the raw values of a type, as those of enumerations are; see ``AttributeKey``.
public final class RawAttributeKey<Value: RawRepresentable & Sendable>: Sendable
where Value.RawValue: AttributeScalar & AttributeRepresentable {
    @usableFromInline let rawKey: AttributeKey<Value.RawValue?>
    @usableFromInline let defaultValue: Value

    /// A key for the attribute of that name.
    ///
    /// - Parameter defaultValue: what an attribute reads as that holds no raw value of the type, as one may that another
    ///   version of the program has set.
    @inlinable
    public init(_ name: String, default defaultValue: Value) {
        rawKey = AttributeKey(name)
        self.defaultValue = defaultValue
    }
}

/// The name of an attribute that keeps the raw values of a type, or nothing; see ``RawAttributeKey``.
///
/// A raw value that the type does not have reads as `nil`.
public final class OptionalRawAttributeKey<Value: RawRepresentable & Sendable>: Sendable
where Value.RawValue: AttributeScalar & AttributeRepresentable {
    @usableFromInline let rawKey: AttributeKey<Value.RawValue?>

    @inlinable
    public init(_ name: String) {
        rawKey = AttributeKey(name)
    }
}

extension ManagedObject {
    /// The value whose raw value an attribute keeps.
    @inlinable
    public final subscript<Value>(key: RawAttributeKey<Value>) -> Value {
        get { self[key.rawKey].flatMap { Value(rawValue: $0) } ?? key.defaultValue }
        set { self[key.rawKey] = newValue.rawValue }
    }

    /// The value whose raw value an attribute keeps, or `nil`.
    @inlinable
    public final subscript<Value>(key: OptionalRawAttributeKey<Value>) -> Value? {
        get { self[key.rawKey].flatMap { Value(rawValue: $0) } }
        set { self[key.rawKey] = newValue?.rawValue }
    }
}

extension RawAttributeKey: AttributeDeclaringKey {
    public var name: String { rawKey.name }
    public static var attributeType: AttributeType? { Value.RawValue.attributeType }
    public static var isOptional: Bool { false }
    public static func attributeValue(of value: Value) -> AttributeValue? { value.rawValue.attributeValue }
}

extension OptionalRawAttributeKey: AttributeDeclaringKey {
    public var name: String { rawKey.name }
    public static var attributeType: AttributeType? { Value.RawValue.attributeType }
    public static var isOptional: Bool { true }
    public static func attributeValue(of value: Value?) -> AttributeValue? { value?.rawValue.attributeValue }
}
