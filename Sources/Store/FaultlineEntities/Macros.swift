#if Entities
/// Declares a class as the class of an entity, and its variables as the entity's properties.
///
///     @Entity final class Item: ManagedObject {
///         var name: String = ""
///         var price: Double?
///         @Relationship(deleteRule: .nullify, inverse: \Category.items) var category: Category?
///         @Relationship(inverse: \Tag.items) var tags: ToMany<Tag>
///     }
///
/// The class inherits from `ManagedObject`, or from the class of the parent entity. Every stored variable becomes an
/// attribute or a relationship, depending on its type:
///
/// | variable | property |
/// | --- | --- |
/// | `String`, `Int`, `Int16`, `Int32`, `Int64`, `Double`, `Float`, `Bool`, `Date`, `Data`, `UUID`, `URL`, `Decimal` | an attribute of the type that fits |
/// | a type with raw values of these types, as an enumeration | an attribute of the raw values' type |
/// | an optional of one of these | an optional attribute |
/// | `Category?` | a to-one relationship |
/// | `ToMany<Tag>`, `OrderedToMany<Tag>` | a to-many relationship |
///
/// An initial value is the attribute's default. It is evaluated once; set values that differ between objects in
/// `ManagedObject.awakeFromInsert()`. Refine a property with
/// ``Attribute(_:type:isOptional:minimumValue:maximumValue:regularExpression:renamingIdentifier:versionHashModifier:userInfo:)``
/// and
/// ``Relationship(deleteRule:inverse:isOptional:minimumCount:maximumCount:renamingIdentifier:versionHashModifier:userInfo:)``,
/// exclude a variable with ``EntityIgnored()``, and write ``Index(_:)`` and ``Unique(_:)`` among the properties.
///
/// Create objects with `ManagedObject.init(context:)`, or with an initializer that the macro generates. It takes the
/// values of the class's own properties except to-many relationships:
/// `Item(context: context, name: "Milk", price: 1.2)`. Optional properties and those with an initial value can be
/// omitted. An initializer that you write must be a convenience initializer that calls
/// `ManagedObject.init(context:)`; if it takes a context and further arguments, the macro generates none.
///
/// Reading and setting a property uses the same calls as a hand-written `AttributeKey`.
///
/// - Parameters:
///   - name: The entity's name; by default, the class's name.
///   - isAbstract: Whether only subentities have objects, and the entity itself has none.
///   - renamingIdentifier: The entity's name in an earlier version of the model.
///   - versionHashModifier: Text that distinguishes this version of the entity from another if nothing else has
///     changed.
///   - userInfo: Arbitrary notes.
@attached(
    member, conformances: Entity,
    names: named(entityName), named(entityDeclaration), named(_entityDeclaration), named(keyPaths), named(init))
@attached(memberAttribute)
@attached(extension, conformances: Entity)
public macro Entity(
    _ name: String? = nil, isAbstract: Bool = false, renamingIdentifier: String? = nil,
    versionHashModifier: String? = nil, userInfo: [String: String] = [:]
) = #externalMacro(module: "FaultlineEntityMacros", type: "EntityMacro")

/// Refines an attribute.
///
///     @Attribute(.unique, renamingIdentifier: "title") var name: String = ""
///     @Attribute(minimumValue: 0, maximumValue: 100) var rating: Int?
///
/// - Parameters:
///   - options: See ``AttributeOption``.
///   - type: The attribute's type, if several fit the variable's type; `Int` is stored as `AttributeType.integer64`
///     by default.
///   - isOptional: Whether an object can be saved without a value; by default, whether the variable is optional.
///     Without a value, a variable that is not optional reads as the initial value, or else as zero, empty or false.
///   - minimumValue: The minimum value for saving; for strings, the minimum number of characters.
///   - maximumValue: The maximum value for saving; for strings, the maximum number of characters.
///   - regularExpression: The pattern that a string must match for saving.
///   - renamingIdentifier: The attribute's name in an earlier version of the model.
///   - versionHashModifier: Text that distinguishes this version of the attribute from another if nothing else has
///     changed.
///   - userInfo: Arbitrary notes.
@attached(accessor)
@attached(peer, names: prefixed(_))
public macro Attribute(
    _ options: AttributeOption..., type: AttributeType? = nil, isOptional: Bool? = nil,
    minimumValue: AttributeValue? = nil, maximumValue: AttributeValue? = nil, regularExpression: String? = nil,
    renamingIdentifier: String? = nil, versionHashModifier: String? = nil, userInfo: [String: String] = [:]
) = #externalMacro(module: "FaultlineEntityMacros", type: "PropertyMacro")

/// Refines a relationship.
///
///     @Relationship(deleteRule: .cascade, inverse: \Item.category) var items: ToMany<Item>
///
/// - Parameters:
///   - deleteRule: The rule for the related objects when an object is deleted; by default `DeleteRule.nullify`.
///   - inverse: The inverse relationship; `nil` for none. Only one side names the other, because the compiler rejects a
///     circular reference. If neither does, the inverse is the destination's only relationship to this entity, if there
///     is exactly one.
///   - isOptional: Whether an object can be saved without a related object.
///   - minimumCount: The minimum number of objects in a to-many relationship that is not empty.
///   - maximumCount: The maximum number of objects in a to-many relationship; 0 for no limit.
///   - renamingIdentifier: The relationship's name in an earlier version of the model.
///   - versionHashModifier: Text that distinguishes this version of the relationship from another if nothing else has
///     changed.
///   - userInfo: Arbitrary notes.
@attached(accessor)
@attached(peer, names: prefixed(_))
public macro Relationship(
    deleteRule: DeleteRule = .nullify, inverse: AnyKeyPath? = nil, isOptional: Bool = true, minimumCount: Int = 0,
    maximumCount: Int = 0, renamingIdentifier: String? = nil, versionHashModifier: String? = nil,
    userInfo: [String: String] = [:]
) = #externalMacro(module: "FaultlineEntityMacros", type: "PropertyMacro")

/// Excludes a stored variable from the entity; it exists only in the object in memory.
///
/// For an attribute that the store knows but does not keep, use the option ``AttributeOption/transient``.
@attached(peer)
public macro EntityIgnored() = #externalMacro(module: "FaultlineEntityMacros", type: "IgnoredPropertyMacro")

/// Declares uniqueness constraints of an entity; written among the class's properties.
///
///     #Unique<Item>([\.name], [\.category, \.number])
///
/// Each list is one constraint on stored attributes and to-one relationships.
@freestanding(declaration)
public macro Unique<Object: ManagedObject>(_ constraints: [PartialKeyPath<Object>]...) =
    #externalMacro(module: "FaultlineEntityMacros", type: "ConstraintMacro")

/// Declares indexes of an entity, for fetches that select or sort by them; written among the class's properties.
///
///     #Index<Item>([\.name], [\.category, \.price])
///
/// Each list is one ascending index, named after its properties: `byCategoryAndPrice`.
@freestanding(declaration)
public macro Index<Object: ManagedObject>(_ indexes: [PartialKeyPath<Object>]...) =
    #externalMacro(module: "FaultlineEntityMacros", type: "ConstraintMacro")

/// Declares an index of an entity with a name.
///
///     #Index<Artist>("byAlbumCount", .descending(\.albumCount), .ascending(\.name))
@freestanding(declaration)
public macro Index<Object: ManagedObject>(_ name: String, _ elements: EntityIndexElement<Object>...) =
    #externalMacro(module: "FaultlineEntityMacros", type: "ConstraintMacro")
#endif
