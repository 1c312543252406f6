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

    @available(
        *, unavailable,
        message:
            "an attribute with raw values needs an initial value to use in place of raw values that its type does not have; give it one, or make it optional"
    )
    @_disfavoredOverload
    public static func make<Value: RawRepresentable & Sendable>(
        _ name: String, _ type: Value.Type
    ) -> UnsupportedKey<Value> where Value.RawValue: AttributeScalar & AttributeRepresentable { UnsupportedKey() }

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
