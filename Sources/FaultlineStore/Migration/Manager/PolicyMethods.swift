import FaultlineModel

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
