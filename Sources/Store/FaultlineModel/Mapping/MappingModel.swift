public import Foundation

/// The plan by which a store of one model version becomes a store of another: a mapping for each kind of object.
///
/// Infer it if names and renaming identifiers match all parts (``inferredMappingModel(from:to:)``), load it from a file of
/// Xcode's (``init(contentsOf:from:to:)``), or create it in code:
///
///     let mapping = MappingModel(entityMappings: [
///         EntityMapping("CarToCar", from: "Car", to: "Car", attributeMappings: [
///             PropertyMapping("title", "$source.name"),
///         ]),
///     ])
public struct MappingModel: Sendable, Hashable {
    /// The mappings of the entities, in the order in which each stage of a migration processes them.
    public var entityMappings: [EntityMapping]
    /// The file that the mapping model was loaded from.
    var origin: MappingOrigin?

    /// Creates a mapping model of mappings, in the order of processing.
    public init(entityMappings: [EntityMapping] = []) {
        self.entityMappings = entityMappings
    }

    /// The mappings by name; if several have the same name, the first.
    public var entityMappingsByName: [String: EntityMapping] {
        Dictionary(entityMappings.map { ($0.name, $0) }) { first, _ in first }
    }
}

/// A mapping of the objects of one older entity to objects of one newer entity.
public struct EntityMapping: Sendable, Hashable {
    /// The kind of mapping, with the numbers that Core Data's files use.
    public enum MappingType: Int, Sendable, Hashable, CaseIterable {
        /// Undecided, as in files that Xcode writes; the two entities decide.
        case undefined = 0
        /// A policy creates the objects.
        case custom = 1
        /// The entity is new and has no objects at first.
        case add = 2
        /// The objects are not carried over.
        case remove = 3
        /// Each object is carried over as it is.
        case copy = 4
        /// Each object is carried over, with values from expressions.
        case transform = 5
    }

    /// The name by which expressions and policies refer to the mapping: `CarToCar`.
    public var name: String
    /// The kind of mapping.
    public var mappingType: MappingType
    /// The name of the entity in the older model; `nil` if the mapping adds an entity.
    public var sourceEntityName: String?
    /// The name of the entity in the newer model; `nil` if the mapping removes an entity.
    public var destinationEntityName: String?
    /// The version hash that the older entity must have; `nil` for any.
    public var sourceEntityVersionHash: Data?
    /// The version hash that the newer entity must have; `nil` for any.
    public var destinationEntityVersionHash: Data?
    /// The mappings of the newer objects' attributes; an attribute without a mapping keeps its default.
    public var attributeMappings: [PropertyMapping]
    /// The mappings of the newer objects' relationships; a relationship without a mapping stays empty.
    public var relationshipMappings: [PropertyMapping]
    /// The expression that selects the older objects; `nil` for all objects of the entity itself, without subentities.
    public var sourceExpression: MappingExpression?
    /// The name under which a policy is registered, for ``MappingType/custom``.
    public var entityMigrationPolicyClassName: String?
    /// Values for the policy; for an inferred mapping, the names of its properties.
    public var userInfo: [String: String]

    /// Creates a mapping that transforms objects, unless specified otherwise.
    public init(
        _ name: String, _ mappingType: MappingType = .transform, from sourceEntityName: String?,
        to destinationEntityName: String?, attributeMappings: [PropertyMapping] = [],
        relationshipMappings: [PropertyMapping] = [], sourceExpression: MappingExpression? = nil,
        entityMigrationPolicyClassName: String? = nil, userInfo: [String: String] = [:]
    ) {
        self.name = name
        self.mappingType = mappingType
        self.sourceEntityName = sourceEntityName
        self.destinationEntityName = destinationEntityName
        self.attributeMappings = attributeMappings
        self.relationshipMappings = relationshipMappings
        self.sourceExpression = sourceExpression
        self.entityMigrationPolicyClassName = entityMigrationPolicyClassName
        self.userInfo = userInfo
    }
}

/// A mapping that sets one property of a newer object.
public struct PropertyMapping: Sendable, Hashable {
    /// The name of the property in the newer model.
    public var name: String
    /// The expression for the value; `nil` leaves an attribute at its default, and a relationship empty.
    public var valueExpression: MappingExpression?
    /// Values for the policy.
    public var userInfo: [String: String]

    /// Creates a mapping of the named property.
    public init(_ name: String, _ valueExpression: MappingExpression? = nil, userInfo: [String: String] = [:]) {
        self.name = name
        self.valueExpression = valueExpression
        self.userInfo = userInfo
    }
}
