public import FaultlineModel
public import FaultlineStore

/// The steps of a migration for the objects of one entity mapping.
///
/// This class carries out the mapping. To do more, or something else, override its methods and name the subclass in the mapping
/// (`EntityMapping.entityMigrationPolicyClassName`). A migration creates one policy for each mapping and calls
/// its methods in this order:
///
/// 1. ``begin(_:with:)``; ``createDestinationInstances(forSource:in:manager:)`` for each older object;
///    ``endInstanceCreation(forMapping:manager:)``
/// 2. when all mappings have reached this point, ``createRelationships(forDestination:in:manager:)`` for each newer object;
///    ``endRelationshipCreation(forMapping:manager:)``
/// 3. when all mappings have reached this point, ``performCustomValidation(forMapping:manager:)`` and ``end(_:manager:)``
///
/// Objects are of the class `ManagedObject`; use their properties by name. An error that a method throws ends the
/// migration and leaves the store as it was.
open class EntityMigrationPolicy {
    /// Creates a policy.
    public required init() {}

    /// Prepares the policy before the first object.
    open func begin(_ mapping: EntityMapping, with manager: MigrationManager) throws {}

    /// Creates the newer objects of an older one, sets their attributes, and associates them with it.
    ///
    /// An override that does not call `super` must call
    /// ``MigrationManager/associate(sourceInstance:withDestinationInstance:for:)`` itself; the relationships of an object that is
    /// not associated are not set. An override that does nothing leaves the object out.
    open func createDestinationInstances(
        forSource source: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
        guard let name = mapping.destinationEntityName else { return }
        let object = manager.insertDestination(name, for: source)
        let compiled = manager.compiled(mapping, source, object)
        let values = MappingValues(manager, compiled, self, source: source, destination: object)
        for step in compiled.attributes { try values.perform(step) }
        manager.associate(sourceInstance: source, withDestinationInstance: object, for: mapping)
    }

    /// Ends the creation of a mapping's objects.
    open func endInstanceCreation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {}

    /// Sets the relationships of a newer object.
    open func createRelationships(
        forDestination destination: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
        let properties = manager.relationshipMappings(of: mapping)
        guard !properties.isEmpty else { return }
        let source = manager.sourceInstances(
            forEntityMappingName: mapping.name, destinationInstances: [destination]
        ).first
        let values = MappingValues(
            manager, manager.compiled(mapping, source, destination), self, source: source, destination: destination)
        for property in properties { try values.setRelationship(property) }
    }

    /// Ends the creation of a mapping's relationships.
    open func endRelationshipCreation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {}

    /// Checks a mapping's objects in ways that the model cannot express; fetch them from the destination's context.
    open func performCustomValidation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {}

    /// Ends the mapping.
    open func end(_ mapping: EntityMapping, manager: MigrationManager) throws {}

    /// Returns the value of `FUNCTION($entityPolicy, "selector:", …)` in the mapping's expressions.
    ///
    /// - Parameters:
    ///   - selector: The name of the method in Objective-C, such as `"titleForBook:manager:"`.
    ///   - arguments: The values of the arguments; objects, attribute values, or the manager.
    /// - Throws: `StoreError` for each selector, in this class.
    open func value(forFunction selector: String, arguments: [Any?]) throws -> Any? {
        throw StoreError(
            .entityMigrationPolicy,
            "The policy \(type(of: self)) has no function '\(selector)', which an expression calls; override value(forFunction:arguments:) to provide it."
        )
    }
}

/// The methods that policies override.
struct PolicyMethods {
    private let slot: MethodSlot?

    static let createDestinationInstances = PolicyMethods(CreationProbe.self)
    static let createRelationships = PolicyMethods(RelationshipProbe.self)

    private init(_ probe: EntityMigrationPolicy.Type) {
        slot = MethodSlot(of: EntityMigrationPolicy.self, overriddenIn: probe, butNotIn: PlainProbe.self)
    }

    func isOverridden(in type: EntityMigrationPolicy.Type) -> Bool {
        type != EntityMigrationPolicy.self && slot?.isOverridden(in: type) ?? true
    }

    private final class PlainProbe: EntityMigrationPolicy {}

    private final class CreationProbe: EntityMigrationPolicy {
        override func createDestinationInstances(
            forSource source: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
        ) throws { manager.userInfo = [:] }
    }

    private final class RelationshipProbe: EntityMigrationPolicy {
        override func createRelationships(
            forDestination destination: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
        ) throws { manager.policies = [] }
    }
}
