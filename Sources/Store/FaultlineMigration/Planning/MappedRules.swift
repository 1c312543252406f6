import FaultlineModel
import FaultlineStore

/// Turns a mapping model into rules for SQL, if it only copies objects and their values.
///
/// SQL creates the same objects as a ``MigrationManager``, in place and without loading any. Anything that SQL cannot do, or
/// does differently, is left to the manager.
struct MappedRules {
    /// The reason why a mapping model needs a migration manager, as part of a sentence.
    struct ObjectsNeeded: Error {
        let reason: String
    }

    private let model: MappingModel
    private let old: ModelSchema
    private let new: ModelSchema
    private let newModel: ManagedObjectModel
    private let oldModel: ManagedObjectModel
    private var links: [String: MigrationRules.Link] = [:]
    private var conditions: [MigrationCondition] = []
    /// The older relationships that newer ones continue, by number, and the newer ones by the older one.
    private var continued: [Int: Int] = [:]
    private var continuing: [Int: Int] = [:]

    /// Returns the rules of a mapping model that fits both versions.
    static func rules(
        _ model: MappingModel, from old: ManagedObjectModel, to new: ManagedObjectModel
    ) throws(ObjectsNeeded) -> MigrationRules {
        var rules = MappedRules(model, from: old, to: new)
        try rules.link()
        for mapping in rules.model.entityMappings {
            guard let link = rules.links[mapping.destinationEntityName ?? ""] else { continue }
            try rules.addAttributes(mapping, link.new)
            try rules.addRelationships(mapping, link.new)
            rules.addConstraints(of: link.new)
        }
        try rules.checkRelationships()
        return MigrationRules(
            links: rules.links.values.sorted { $0.new < $1.new }, conditions: rules.conditions)
    }

    private init(_ model: MappingModel, from old: ManagedObjectModel, to new: ManagedObjectModel) {
        self.model = model.completed(from: old.schema, to: new.schema)
        (oldModel, newModel, self.old, self.new) = (old, new, old.schema, new.schema)
    }

    // MARK: - Entities

    private mutating func link() throws(ObjectsNeeded) {
        var sources: Set<String> = []
        var tables: [String: String] = [:]
        for mapping in model.entityMappings {
            guard mapping.mappingType != .custom, mapping.entityMigrationPolicyClassName == nil else {
                throw ObjectsNeeded(reason: "'\(mapping.name)' has a policy")
            }
            guard mapping.mappingType != .add, mapping.mappingType != .remove,
                let before = mapping.sourceEntityName.flatMap({ old.entity(named: $0) }),
                let entity = mapping.destinationEntityName.flatMap({ new.entity(named: $0) })
            else { continue }
            guard mapping.selectsAllObjects else {
                throw ObjectsNeeded(reason: "'\(mapping.name)' selects its objects")
            }
            guard !before.isAbstract, !entity.isAbstract, sources.insert(before.name).inserted,
                links[entity.name] == nil
            else { throw ObjectsNeeded(reason: "'\(mapping.name)' is not the only mapping of its entities") }
            guard tables.updateValue(before.table, forKey: entity.table) ?? before.table == before.table else {
                throw ObjectsNeeded(reason: "'\(entity.name)' gets objects of several hierarchies")
            }
            links[entity.name] = MigrationRules.Link(old: before.name, new: entity.name)
        }
    }

    // MARK: - Attributes

    private mutating func addAttributes(_ mapping: EntityMapping, _ name: String) throws(ObjectsNeeded) {
        guard let link = links[name], let before = old.entity(named: link.old), let entity = new.entity(named: name)
        else { return }
        let expressions = Dictionary(
            mapping.attributeMappings.map { ($0.name, $0.valueExpression) }, uniquingKeysWith: { first, _ in first })
        for unknown in expressions.keys where entity.property(unknown)?.attributeType == nil {
            throw ObjectsNeeded(reason: "'\(mapping.name)' sets '\(unknown)', which is not an attribute of '\(name)'")
        }
        for attribute in entity.properties {
            guard let type = attribute.attributeType, !attribute.isTransient, !attribute.isDerived else { continue }
            let path = "'\(name).\(attribute.name)'"
            switch expressions[attribute.name] ?? nil {
            case nil:
                guard attribute.limits == nil || attribute.defaultValue != nil || attribute.isOptional else {
                    throw ObjectsNeeded(reason: "\(path) has limits")
                }
                if !attribute.isOptional, attribute.defaultValue == nil { require(.noObjects, attribute, link) }
            case .constant(let value)?:
                let fitting = value.map { ManagedObject.fitting($0, attribute) }
                guard fitting != .some(nil), attribute.limits == nil, type != .transformable else {
                    throw ObjectsNeeded(reason: "\(path) gets a constant that must be converted or checked")
                }
                if fitting == nil, !attribute.isOptional {
                    // As elsewhere, a required attribute without a value gets its default value.
                    if attribute.defaultValue == nil { require(.noObjects, attribute, link) }
                } else {
                    links[name]?.constants[attribute.name] = .some(fitting ?? nil)
                }
            case .keyPath(.variable(.source), let key)?:
                guard let source = before.property(key), let sourceType = source.attributeType, !source.isTransient,
                    sourceType == type || (sourceType.isNumeric && type.isNumeric)
                else { throw ObjectsNeeded(reason: "\(path) needs a value that SQL cannot compute") }
                guard attribute.limits == nil || attribute.limits == source.limits else {
                    throw ObjectsNeeded(reason: "\(path) has limits that the older values were not checked against")
                }
                links[name]?.names[attribute.name] = key
                if !type.holdsAll(of: sourceType), type != sourceType {
                    require(.valuesFit(type, of: key), attribute, link)
                }
                if !attribute.isOptional, source.isOptional, attribute.defaultValue == nil {
                    require(.noMissingValues(of: key), attribute, link)
                }
            default: throw ObjectsNeeded(reason: "\(path) is computed")
            }
        }
    }

    private mutating func require(
        _ requirement: MigrationCondition.Requirement, _ property: PropertySchema, _ link: MigrationRules.Link
    ) {
        conditions.append(MigrationCondition(requirement, link.old, link.new, property.name))
    }

    private mutating func addConstraints(of name: String) {
        guard let link = links[name], let entity = newModel.entity(named: name),
            let before = oldModel.entity(named: link.old)
        else { return }
        let known = Set(oldModel.lineage(of: before).flatMap(\.uniquenessConstraints))
        for constraint in newModel.lineage(of: entity).flatMap(\.uniquenessConstraints) {
            if known.contains(constraint.map { link.names[$0] ?? "" }) { continue }
            conditions.append(MigrationCondition(.unique(constraint), link.old, name, constraint.first))
        }
    }

    // MARK: - Relationships

    private mutating func addRelationships(_ mapping: EntityMapping, _ name: String) throws(ObjectsNeeded) {
        guard let link = links[name], let before = old.entity(named: link.old), let entity = new.entity(named: name)
        else { return }
        let mappings = Dictionary(
            mapping.relationshipMappings.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        for unknown in mappings.keys where entity.property(unknown)?.isRelationship != true {
            throw ObjectsNeeded(reason: "'\(mapping.name)' sets '\(unknown)', which is not a relationship of '\(name)'")
        }
        for relationship in entity.properties where relationship.isRelationship && !relationship.isTransient {
            let path = "'\(name).\(relationship.name)'"
            guard let property = mappings[relationship.name], property.valueExpression != nil else {
                guard relationship.limits == nil, relationship.isOptional else {
                    throw ObjectsNeeded(reason: "\(path) is required")
                }
                continue
            }
            guard let (key, selected) = property.continuedRelationship, let source = before.property(key),
                source.isRelationship, !source.isTransient
            else { throw ObjectsNeeded(reason: "\(path) is computed") }
            guard relationship.isToMany || !source.isToMany, relationship.isOptional || !relationship.isToMany,
                relationship.limits == source.limits || relationship.limits == nil
            else { throw ObjectsNeeded(reason: "\(path) can hold fewer objects than before") }
            try checkEnd(source, relationship, selected, path)
            try join(relationship, to: source, path)
            links[name]?.names[relationship.name] = key
            if !relationship.isOptional, source.isOptional {
                require(.noMissingValues(of: key), relationship, link)
            }
        }
    }

    /// Checks that all objects at the end of an older relationship that are carried over belong there.
    private func checkEnd(
        _ source: PropertySchema, _ relationship: PropertySchema, _ mapping: String?, _ path: String
    ) throws(ObjectsNeeded) {
        let family = new.entities[relationship.destination].family
        let members = old.entities[source.destination].family.map { old.entities[$0].name }
        for link in links.values where members.contains(link.old) {
            guard let entity = new.entity(named: link.new), family.contains(entity.index) else {
                throw ObjectsNeeded(reason: "\(path) cannot refer to objects of '\(link.new)'")
            }
            guard mapping == nil || model.entityMappingsByName[mapping!]?.destinationEntityName == link.new else {
                throw ObjectsNeeded(reason: "\(path) takes only the objects of one mapping")
            }
        }
        if let mapping, model.entityMappingsByName[mapping] == nil {
            throw ObjectsNeeded(reason: "\(path) names the mapping '\(mapping)', which does not exist")
        }
    }

    /// Records the older relationship that a newer one continues, from both of its ends.
    private mutating func join(
        _ relationship: PropertySchema, to source: PropertySchema, _ path: String
    ) throws(ObjectsNeeded) {
        var ends = [(relationship, source)]
        if let inverse = new.inverse(of: relationship), let before = old.inverse(of: source) {
            ends.append((inverse, before))
        }
        for (end, before) in ends {
            let (number, other) = (end.relationshipNumber, before.relationshipNumber)
            guard continued.updateValue(other, forKey: number) ?? other == other,
                continuing.updateValue(number, forKey: other) ?? number == number
            else { throw ObjectsNeeded(reason: "\(path) does not continue exactly one relationship") }
        }
    }

    /// Checks that a relationship continues the same one in all entities that have it, or in none.
    private func checkRelationships() throws(ObjectsNeeded) {
        var isMapped: [Int: Bool] = [:]
        for link in links.values.sorted(by: { $0.new < $1.new }) {
            guard let entity = new.entity(named: link.new) else { continue }
            for property in entity.properties where property.isRelationship && !property.isTransient {
                let maps = link.names[property.name] != nil
                guard isMapped.updateValue(maps, forKey: property.relationshipNumber) ?? maps == maps else {
                    throw ObjectsNeeded(reason: "not all mappings set '\(link.new).\(property.name)'")
                }
            }
        }
    }
}
