/// Makes a class the class of an entity, and its variables the entity's properties.
///
///     @Entity final class Item: ManagedObject {
///         var name: String = ""
///         var price: Double?
///         @Relationship(deleteRule: .nullify, inverse: \Category.items) var category: Category?
///         @Relationship(inverse: \Tag.items) var tags: ToMany<Tag>
///     }
///
/// The class inherits from ``ManagedObject``, or from the class of the entity that the entity inherits from. Every stored
/// variable becomes an attribute or a relationship, which its type says:
///
/// | variable | property |
/// | --- | --- |
/// | `String`, `Int`, `Int16`, `Int32`, `Int64`, `Double`, `Float`, `Bool`, `Date`, `Data`, `UUID`, `URL`, `Decimal` | an attribute of the type that fits |
/// | a type with raw values of these types, as an enumeration | an attribute of the raw values' type |
/// | an optional of one of these | an optional attribute |
/// | `Category?` | a to-one relationship |
/// | `ToMany<Tag>`, `OrderedToMany<Tag>` | a to-many relationship |
///
/// An initial value is the attribute's default. It is worked out once, so what differs from object to object is set in
/// ``ManagedObject/awakeFromInsert()``. ``Attribute(_:type:isOptional:minimumValue:maximumValue:regularExpression:renamingIdentifier:versionHashModifier:userInfo:)``
/// and ``Relationship(deleteRule:inverse:isOptional:minimumCount:maximumCount:renamingIdentifier:versionHashModifier:userInfo:)``
/// say more of a property, ``EntityIgnored()`` leaves a variable out, and ``Index(_:)`` and ``Unique(_:)`` stand among
/// the properties.
///
/// Objects are made by ``ManagedObject/init(context:)``, or by an initializer that the macro writes, with the values of the
/// class's own properties but to-many relationships: `Item(context: context, name: "Milk", price: 1.2)`. Optional properties
/// and those with an initial value can be left out. An initializer of the class's own is a convenience that calls
/// ``ManagedObject/init(context:)``; a class with one that takes a context and more gets none from the macro.
///
/// A property is read and set by the same calls as with an ``AttributeKey`` that was written by hand.
///
/// - Parameters:
///   - name: the entity's name; the class's unless said otherwise.
///   - isAbstract: whether there are no objects of the entity itself, only of those that inherit from it.
///   - renamingIdentifier: the name that the entity had in an earlier version of the model.
///   - versionHashModifier: text that makes this version of the entity another one, although nothing else changed.
///   - userInfo: whatever is to be noted.
@attached(
    member, conformances: Entity,
    names: named(entityName), named(entityDeclaration), named(_entityDeclaration), named(keyPaths), named(init))
@attached(memberAttribute)
@attached(extension, conformances: Entity)
public macro Entity(
    _ name: String? = nil, isAbstract: Bool = false, renamingIdentifier: String? = nil,
    versionHashModifier: String? = nil, userInfo: [String: String] = [:]
) = #externalMacro(module: "FaultlineEntityMacros", type: "EntityMacro")

/// Says more of an attribute than its variable does.
///
///     @Attribute(.unique, renamingIdentifier: "title") var name: String = ""
///     @Attribute(minimumValue: 0, maximumValue: 100) var rating: Int?
///
/// - Parameters:
///   - options: see ``AttributeOption``.
///   - type: the attribute's type, where the variable's fits several: `Int` is kept as ``AttributeType/integer64`` unless
///     said otherwise.
///   - isOptional: whether an object can be saved without a value; if the variable is optional unless said otherwise.
///     Without a value, a variable that is not optional reads as the initial value, or else as zero, empty or false.
///   - minimumValue: the least value that an object can be saved with, for text the least number of characters.
///   - maximumValue: the greatest value that an object can be saved with, for text the greatest number of characters.
///   - regularExpression: what text must look like for an object to be saved.
///   - renamingIdentifier: the name that the attribute had in an earlier version of the model.
///   - versionHashModifier: text that makes this version of the attribute another one, although nothing else changed.
///   - userInfo: whatever is to be noted.
@attached(accessor)
@attached(peer, names: prefixed(_))
public macro Attribute(
    _ options: AttributeOption..., type: AttributeType? = nil, isOptional: Bool? = nil,
    minimumValue: AttributeValue? = nil, maximumValue: AttributeValue? = nil, regularExpression: String? = nil,
    renamingIdentifier: String? = nil, versionHashModifier: String? = nil, userInfo: [String: String] = [:]
) = #externalMacro(module: "FaultlineEntityMacros", type: "PropertyMacro")

/// Says more of a relationship than its variable does.
///
///     @Relationship(deleteRule: .cascade, inverse: \Item.category) var items: ToMany<Item>
///
/// - Parameters:
///   - deleteRule: what happens to the objects at the other end when an object is deleted; ``DeleteRule/nullify`` unless
///     said otherwise.
///   - inverse: the relationship that leads back; `nil`: none. One side names the other; if both did, the compiler would
///     go round in a circle. If none does, it is the relationship of the destination that leads to this entity, if there
///     is just one.
///   - isOptional: whether an object can be saved with nothing at the other end.
///   - minimumCount: how many objects there must be at the other end of a to-many relationship that is not empty.
///   - maximumCount: how many objects there can be at the other end of a to-many relationship; 0: any number.
///   - renamingIdentifier: the name that the relationship had in an earlier version of the model.
///   - versionHashModifier: text that makes this version of the relationship another one, although nothing else changed.
///   - userInfo: whatever is to be noted.
@attached(accessor)
@attached(peer, names: prefixed(_))
public macro Relationship(
    deleteRule: DeleteRule = .nullify, inverse: AnyKeyPath? = nil, isOptional: Bool = true, minimumCount: Int = 0,
    maximumCount: Int = 0, renamingIdentifier: String? = nil, versionHashModifier: String? = nil,
    userInfo: [String: String] = [:]
) = #externalMacro(module: "FaultlineEntityMacros", type: "PropertyMacro")

/// Leaves a stored variable out of the entity: it belongs to the object in memory and to nothing else.
///
/// What the store is to know of and not to keep is an attribute with the option ``AttributeOption/transient``.
@attached(peer)
public macro EntityIgnored() = #externalMacro(module: "FaultlineEntityMacros", type: "IgnoredPropertyMacro")

/// Keeps no two objects of an entity with the same values of some properties; stands among the class's properties.
///
///     #Unique<Item>([\.name], [\.category, \.number])
///
/// Each list is one constraint, over attributes that are stored and to-one relationships.
@freestanding(declaration)
public macro Unique<Object: ManagedObject>(_ constraints: [PartialKeyPath<Object>]...) =
    #externalMacro(module: "FaultlineEntityMacros", type: "ConstraintMacro")

/// Keeps indexes over properties of an entity, for fetches that select or sort by them; stands among the class's
/// properties.
///
///     #Index<Item>([\.name], [\.category, \.price])
///
/// Each list is one ascending index, named for its properties: `byCategoryAndPrice`.
@freestanding(declaration)
public macro Index<Object: ManagedObject>(_ indexes: [PartialKeyPath<Object>]...) =
    #externalMacro(module: "FaultlineEntityMacros", type: "ConstraintMacro")

/// Keeps one index with a name over properties of an entity.
///
///     #Index<Artist>("byAlbumCount", .descending(\.albumCount), .ascending(\.name))
@freestanding(declaration)
public macro Index<Object: ManagedObject>(_ name: String, _ elements: EntityIndexElement<Object>...) =
    #externalMacro(module: "FaultlineEntityMacros", type: "ConstraintMacro")
