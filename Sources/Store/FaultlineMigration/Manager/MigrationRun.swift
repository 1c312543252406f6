import CSQLite
import FaultlineModel
import FaultlineStore
import Foundation

/// The two stores of a migration with a mapping model, and the associations of their objects.
final class MigrationRun {
    /// One of the two stores, with the context that has its objects.
    struct Side {
        let container: PersistentContainer
        let context: ManagedObjectContext

        init(_ container: PersistentContainer) {
            self.container = container
            context = container.newBackgroundContext()
        }

        var store: SQLStore { container.persistentStoreCoordinator.stores[0] }

        func id(_ entity: Int, _ key: Int64) -> ManagedObjectID {
            ManagedObjectID(store: store.identity, entity: store.schema.entities[entity], key: key)
        }

        /// Returns an object that is a fault until it is used.
        func object(_ entity: Int, _ key: Int64) -> ManagedObject { context.object(with: id(entity, key)) }
    }

    let mappings: [EntityMapping]
    let source: Side
    let destination: Side
    let associations: MigrationAssociations
    let compiled: [CompiledMapping]
    private let numbers: [String: Int]

    /// - Parameter keptTables: The tables of the newer store whose objects keep their keys, by the older table.
    init(
        _ model: MappingModel, _ policies: [EntityMigrationPolicy], _ source: Side, _ destination: Side,
        keptTables: [String: Set<String>]
    ) throws(StoreError) {
        mappings = model.entityMappings
        (self.source, self.destination) = (source, destination)
        numbers = Dictionary(mappings.enumerated().map { ($1.name, $0) }) { first, _ in first }
        associations = try MigrationAssociations()
        let (old, new) = (source.store.schema, destination.store.schema)
        compiled =
            CompiledMappings(
                model, policies, old, new, keptTables: keptTables,
                relationships: Self.relationships(model, policies, old, new)
            ).all
    }

    func number(of mapping: String) -> Int {
        guard let number = numbers[mapping] else {
            incorrectUse("The mapping model has no entity mapping '\(mapping)'.")
        }
        return number
    }

    // MARK: - Keys

    /// Returns the tables whose objects keep their keys: those whose objects all come from one older table.
    ///
    /// - Returns: The newer tables, by the older one.
    static func keptTables(
        _ mappings: [EntityMapping], _ source: ModelSchema, _ destination: ModelSchema
    ) -> [String: Set<String>] {
        var origins: [String: Set<String>] = [:]
        for mapping in mappings {
            guard let new = mapping.destinationEntityName.flatMap({ destination.entity(named: $0) }),
                let old = mapping.sourceEntityName.flatMap({ source.entity(named: $0) })
            else { continue }
            origins[new.table, default: []].insert(old.table)
        }
        var kept: [String: Set<String>] = [:]
        for (table, olds) in origins where olds.count == 1 { kept[olds.first!, default: []].insert(table) }
        return kept
    }

    // MARK: - Associations

    func destinations(of object: ManagedObject, under mapping: Int) -> [ManagedObject] {
        associations.destinations(of: object, under: mapping).map { $0.object ?? destination.object($0.entity, $0.key) }
    }

    func destinations(of object: ManagedObject) -> [ManagedObject] {
        let name = object.runtime.schema.name
        return mappings.indices.filter { mappings[$0].sourceEntityName == name }
            .flatMap { destinations(of: object, under: $0) }
    }

    func sources(of object: ManagedObject, under mapping: Int) -> [ManagedObject] {
        associations.sources(of: object, under: mapping).map { $0.object ?? source.object($0.entity, $0.key) }
    }

    // MARK: - Relationships

    /// Returns the relationship mappings that must be set.
    ///
    /// An unordered to-many relationship follows from its inverse if both simply continue the two ends of one older relationship.
    private static func relationships(
        _ model: MappingModel, _ policies: [EntityMigrationPolicy], _ source: ModelSchema, _ destination: ModelSchema
    ) -> [String: [PropertyMapping]] {
        // The older relationships that newer ones simply continue, by entity and name.
        var continued: [String: PropertySchema] = [:]
        func sourceProperty(_ property: PropertyMapping, _ mapping: EntityMapping) -> PropertySchema? {
            guard let name = property.continuedRelationship?.name else { return nil }
            return mapping.sourceEntityName.flatMap { source.entity(named: $0) }?.property(name)
        }
        for (mapping, policy) in zip(model.entityMappings, policies)
        where !PolicyMethods.createRelationships.isOverridden(in: type(of: policy)) {
            for property in mapping.relationshipMappings {
                continued["\(mapping.destinationEntityName ?? "").\(property.name)"] = sourceProperty(property, mapping)
            }
        }
        func isImplied(_ own: PropertySchema, _ property: PropertyMapping, _ mapping: EntityMapping) -> Bool {
            guard own.kind == .toMany, !own.isOrdered, !own.isTransient, let old = sourceProperty(property, mapping),
                old.isToMany,
                let inverse = destination.inverse(of: own), let oldInverse = source.inverse(of: old)
            else { return false }
            let end = destination.entities[own.destination]
            return end.family.map { destination.entities[$0] }.allSatisfy {
                $0.isAbstract
                    || continued["\($0.name).\(inverse.name)"]?.relationshipNumber == oldInverse.relationshipNumber
            }
        }
        var found: [String: [PropertyMapping]] = [:]
        for mapping in model.entityMappings {
            let entity = mapping.destinationEntityName.flatMap { destination.entity(named: $0) }
            found[mapping.name] = mapping.relationshipMappings.filter { property in
                guard property.valueExpression != nil, let own = entity?.property(property.name) else { return false }
                return !isImplied(own, property, mapping)
            }
        }
        return found
    }
}
