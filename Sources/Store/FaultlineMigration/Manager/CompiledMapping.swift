import FaultlineModel
import FaultlineStore

/// The parts of an entity mapping that a migration needs for each object, prepared once.
///
/// It is a class because each object refers to it.
final class CompiledMapping {
    /// The source of an attribute's value.
    enum AttributeStep {
        /// From an attribute of the older object, by its index.
        case copy(Int, to: PropertySchema, PropertyMapping)
        case evaluate(PropertyMapping)

        init(_ property: PropertyMapping, _ source: EntitySchema?, _ destination: EntitySchema?) {
            guard case .keyPath(.variable(.source), let name)? = property.valueExpression,
                let before = source?.property(name), before.attributeType != nil,
                let attribute = destination?.property(property.name), attribute.attributeType != nil,
                !attribute.isTransient, !attribute.isDerived
            else {
                self = .evaluate(property)
                return
            }
            self = .copy(before.index, to: attribute, property)
        }
    }

    /// A to-one relationship that is set when the object is created, because its object is known then or certain to come.
    struct DirectReference {
        let property: PropertyMapping
        let source: PropertySchema
        let destination: PropertySchema
        /// The mappings of the objects at the other end, by their older entity.
        let targets: [Int: Target]
    }

    struct Target {
        let mapping: Int
        /// The newer entity of an object that is certain to keep its key; `nil` if it must be looked up.
        let keptEntity: Int?
    }

    let mapping: EntityMapping
    let sourceEntity: Int
    let destinationEntity: Int
    /// Whether the newer objects get the keys of the older ones.
    let keepsKeys: Bool
    let attributes: [AttributeStep]
    var direct: [DirectReference] = []
    /// The relationship mappings that are set when all objects exist.
    var relationships: [PropertyMapping]

    /// Whether a mapping that a policy passes on is this one, unchanged.
    func isUnchanged(_ other: EntityMapping) -> Bool {
        other.name == mapping.name && other.destinationEntityName == mapping.destinationEntityName
            && mapping.attributeMappings.withUnsafeBufferPointer { own in
                other.attributeMappings.withUnsafeBufferPointer { own.baseAddress == $0.baseAddress }
            }
    }

    init(
        _ mapping: EntityMapping, _ source: EntitySchema?, _ destination: EntitySchema?, keepsKeys: Bool,
        relationships: [PropertyMapping]
    ) {
        (self.mapping, self.keepsKeys, self.relationships) = (mapping, keepsKeys, relationships)
        (sourceEntity, destinationEntity) = (source?.index ?? -1, destination?.index ?? -1)
        attributes = mapping.attributeMappings.map { AttributeStep($0, source, destination) }
    }
}

/// The mappings of a migration, and which of their relationships are set directly.
struct CompiledMappings {
    private let model: MappingModel
    private let policies: [EntityMigrationPolicy]
    private let old: ModelSchema
    private let new: ModelSchema
    private(set) var all: [CompiledMapping]

    /// - Parameters:
    ///   - keptTables: The tables of the newer store whose objects keep their keys, by the older table.
    ///   - relationships: The relationship mappings to set, by the names of the entity mappings.
    init(
        _ model: MappingModel, _ policies: [EntityMigrationPolicy], _ old: ModelSchema, _ new: ModelSchema,
        keptTables: [String: Set<String>], relationships: [String: [PropertyMapping]]
    ) {
        (self.model, self.policies, self.old, self.new) = (model, policies, old, new)
        let mappings = model.entityMappings
        let sources = mappings.map { mapping in mapping.sourceEntityName.flatMap { old.entity(named: $0) } }
        let destinations = mappings.map { mapping in mapping.destinationEntityName.flatMap { new.entity(named: $0) } }
        all = mappings.indices.map { number in
            let (source, destination) = (sources[number], destinations[number])
            var keepsKeys = false
            if let source, let destination, keptTables[source.table]?.contains(destination.table) == true {
                // A second mapping of the same objects needs other keys.
                keepsKeys =
                    mappings.indices.first {
                        sources[$0]?.index == source.index && destinations[$0]?.table == destination.table
                    } == number
            }
            return CompiledMapping(
                mappings[number], source, destination, keepsKeys: keepsKeys,
                relationships: relationships[mappings[number].name] ?? [])
        }
        let set = Set(
            all.indices.flatMap { number in
                all[number].relationships.compactMap { destinations[number]?.property($0.name)?.relationshipNumber }
            })
        for number in all.indices {
            guard let source = sources[number], let destination = destinations[number],
                !PolicyMethods.createRelationships.isOverridden(in: type(of: policies[number]))
            else { continue }
            var rest: [PropertyMapping] = []
            for property in all[number].relationships {
                if let reference = reference(property, number, source, destination, set) {
                    all[number].direct.append(reference)
                } else {
                    rest.append(property)
                }
            }
            all[number].relationships = rest
        }
    }

    /// - Parameter set: The numbers of the newer relationships that are set at one of their ends.
    private func reference(
        _ property: PropertyMapping, _ number: Int, _ source: EntitySchema, _ destination: EntitySchema, _ set: Set<Int>
    ) -> CompiledMapping.DirectReference? {
        guard let own = destination.property(property.name), own.kind == .toOne, !own.isTransient,
            let (key, named) = property.continuedRelationship, let before = source.property(key),
            before.kind == .toOne, !before.isTransient
        else { return nil }
        let end = new.entities[own.destination]
        if let inverse = new.inverse(of: own) {
            guard inverse.kind == .toMany, !inverse.isOrdered, !set.contains(inverse.relationshipNumber) else {
                return nil
            }
        }
        var targets: [Int: CompiledMapping.Target] = [:]
        for member in old.entities[before.destination].family.map({ old.entities[$0] }) where !member.isAbstract {
            let fitting = all.indices.filter { index in
                named.map { $0 == model.entityMappings[index].name } ?? (all[index].sourceEntity == member.index)
            }
            guard fitting.count == 1, let target = fitting.first,
                let entity = model.entityMappings[target].destinationEntityName.flatMap({ new.entity(named: $0) }),
                end.family.contains(entity.index)
            else { return nil }
            let isCertain =
                all[target].keepsKeys && all[target].sourceEntity == member.index
                && model.entityMappings[target].selectsAllObjects
                && !PolicyMethods.createDestinationInstances.isOverridden(in: type(of: policies[target]))
            // The objects that a policy creates are known when its mapping is done.
            guard isCertain || target < number else { return nil }
            targets[member.index] = CompiledMapping.Target(
                mapping: target, keptEntity: isCertain ? entity.index : nil)
        }
        return CompiledMapping.DirectReference(property: property, source: before, destination: own, targets: targets)
    }
}
