internal import Foundation

extension MappingModel {
    /// Infers the mapping from stores of one version of a model to stores of another.
    ///
    ///     let mapping = try MappingModel.inferredMappingModel(from: old, to: new)
    ///
    /// Entities and properties are matched by their names and renaming identifiers. Properties can be added,
    /// removed and renamed. They can become optional, or required if they have a default value, and can change from one numeric
    /// type to another, from to-one to to-many, and from ordered to unordered and back. Entities can be added, removed and
    /// renamed, and get new parents.
    ///
    /// The result says nothing about a store's rows: a required attribute without a default value can be added only while there
    /// are no objects that would lack it. A migration checks this before it begins.
    ///
    /// - Throws: ``ModelError`` with the code ``ModelError/Code/inferredMappingModel`` for the first change that cannot be inferred,
    ///   with its entity, its property and the reason.
    public static func inferredMappingModel(
        from source: ManagedObjectModel, to destination: ManagedObjectModel
    ) throws(ModelError) -> MappingModel {
        try MappingInference(from: source, to: destination).mappingModel
    }
}

/// Infers a mapping model and the conditions that a store's rows must meet for it.
package struct MappingInference: Sendable {
    package let matching: ModelMatching
    package private(set) var mappingModel = MappingModel()
    /// The conditions that a migration must check before it begins.
    package private(set) var conditions: [MigrationCondition] = []
    /// The pairs of a removed and an added entity or property that may be one under two names.
    package let possibleRenamings: [PossibleRenaming]
    /// The changes of which nothing shows whether Core Data infers them, too.
    package private(set) var uncertainties: [InferenceUncertainty] = []

    /// - Throws: ``ModelError`` for the first change that cannot be inferred.
    package init(from source: ManagedObjectModel, to destination: ManagedObjectModel) throws(ModelError) {
        ModelWork.observer?(.inference)
        matching = ModelMatching(from: source, to: destination)
        possibleRenamings = PossibleRenaming.all(matching)
        let hashes = (source.entityVersionHashesByName, destination.entityVersionHashesByName)
        for entity in destination.entities.sorted(by: { $0.name < $1.name }) {
            guard let old = matching.source(of: entity) else {
                if !entity.isAbstract { add(entity, hashes.1) }
                continue
            }
            try checkTree(entity, old)
            if entity.isAbstract {
                if !old.isAbstract {
                    conditions.append(MigrationCondition(.noObjectsOfAbstractEntity, old.name, entity.name))
                }
                continue
            }
            if old.isAbstract {
                add(entity, hashes.1)
                continue
            }
            var mapping = EntityMapping("", from: old.name, to: entity.name)
            try map(entity, old, into: &mapping)
            let isCopy = old.name == entity.name && hashes.0[old.name] == hashes.1[entity.name]
            mapping.mappingType = isCopy ? .copy : .transform
            mapping.name = "IEM_\(isCopy ? "Copy" : "Transform")_\(entity.name)"
            mapping.sourceEntityVersionHash = hashes.0[old.name]
            mapping.destinationEntityVersionHash = hashes.1[entity.name]
            mappingModel.entityMappings.append(mapping)
        }
        for old in source.entities.sorted(by: { $0.name < $1.name }) where !old.isAbstract {
            guard matching.destination(of: old) == nil else { continue }
            var mapping = EntityMapping("IEM_Remove_\(old.name)", .remove, from: old.name, to: nil)
            mapping.sourceEntityVersionHash = hashes.0[old.name]
            mappingModel.entityMappings.append(mapping)
        }
    }

    private mutating func add(_ entity: EntityDescription, _ hashes: [String: Data]) {
        var mapping = EntityMapping("IEM_Add_\(entity.name)", .add, from: nil, to: entity.name)
        mapping.destinationEntityVersionHash = hashes[entity.name]
        mappingModel.entityMappings.append(mapping)
    }

    // MARK: - Entities

    /// Checks that an entity does not join a hierarchy in which it was not.
    private func checkTree(_ entity: EntityDescription, _ old: EntityDescription) throws(ModelError) {
        let root = matching.destination.lineage(of: entity)[0]
        let oldRoot = matching.source.lineage(of: old)[0]
        guard root.name != entity.name, let before = matching.source(of: root) else { return }
        guard matching.source.lineage(of: before)[0].name != oldRoot.name else { return }
        throw refusal(
            entity.name, nil,
            "it now inherits from '\(root.name)', with which it had no common ancestor, so the keys of their objects can be equal"
        )
    }

    // MARK: - Properties

    private mutating func map(
        _ entity: EntityDescription, _ old: EntityDescription, into mapping: inout EntityMapping
    ) throws(ModelError) {
        let attributes: [String: AttributeDescription] = matching.properties(of: entity, from: old)
        let relationships: [String: RelationshipDescription] = matching.properties(of: entity, from: old)
        var (mapped, added): ([String], [String]) = ([], [])
        let all: [AttributeDescription] = matching.destination.properties(of: entity)
        for attribute in all.sorted(by: { $0.name < $1.name }) where !attribute.isTransient {
            guard let before = attributes[attribute.name], !before.isTransient else {
                added.append(attribute.name)
                mapping.attributeMappings.append(PropertyMapping(attribute.name))
                if !attribute.isOptional, attribute.defaultValue == nil, !attribute.isDerived {
                    conditions.append(MigrationCondition(.noObjects, old.name, entity.name, attribute.name))
                }
                continue
            }
            try check(attribute, before, entity, old)
            mapped.append(attribute.name)
            mapping.attributeMappings.append(PropertyMapping(attribute.name, .source(before.name)))
        }
        let ends: [RelationshipDescription] = matching.destination.properties(of: entity)
        for relationship in ends.sorted(by: { $0.name < $1.name }) where !relationship.isTransient {
            guard let before = relationships[relationship.name], !before.isTransient else {
                added.append(relationship.name)
                mapping.relationshipMappings.append(PropertyMapping(relationship.name))
                if !relationship.isOptional, !relationship.isToMany {
                    conditions.append(MigrationCondition(.noObjects, old.name, entity.name, relationship.name))
                }
                continue
            }
            try check(relationship, before, entity)
            if !relationship.isToMany, !relationship.isOptional, before.isOptional {
                conditions.append(
                    MigrationCondition(.noMissingValues(of: before.name), old.name, entity.name, relationship.name))
            }
            mapped.append(relationship.name)
            mapping.relationshipMappings.append(
                PropertyMapping(
                    relationship.name, .destinationInstances(forSourceRelationshipNamed: before.name)))
        }
        let kept = Set(attributes.values.map(\.name) + relationships.values.map(\.name))
        let gone: [AttributeDescription] = matching.source.properties(of: old)
        let goneEnds: [RelationshipDescription] = matching.source.properties(of: old)
        let removed = (gone.map(\.name) + goneEnds.map(\.name)).filter { !kept.contains($0) }
        checkUniqueness(entity, old)
        mapping.userInfo = [
            "mappedProperties": mapped.joined(separator: ", "), "addedProperties": added.joined(separator: ", "),
            "removedProperties": removed.sorted().joined(separator: ", "),
        ].filter { !$0.value.isEmpty }
    }

    private mutating func check(
        _ attribute: AttributeDescription, _ before: AttributeDescription, _ entity: EntityDescription,
        _ old: EntityDescription
    ) throws(ModelError) {
        if attribute.type != before.type {
            guard before.type.isNumeric, attribute.type.isNumeric else {
                throw refusal(
                    entity.name, attribute.name,
                    "its type changes from \(before.type.rawValue) to \(attribute.type.rawValue), and only numeric types are converted"
                )
            }
            if (before.type == .decimal) != (attribute.type == .decimal) {
                uncertainties.append(
                    InferenceUncertainty(
                        entity: entity.name, attribute: attribute.name, old: before.type, new: attribute.type))
            }
            if !attribute.type.holdsAll(of: before.type) {
                conditions.append(
                    MigrationCondition(
                        .valuesFit(attribute.type, of: before.name), old.name, entity.name, attribute.name))
            }
        }
        if !attribute.isOptional, before.isOptional, attribute.defaultValue == nil, !attribute.isDerived {
            conditions.append(
                MigrationCondition(.noMissingValues(of: before.name), old.name, entity.name, attribute.name))
        }
    }

    private func check(
        _ relationship: RelationshipDescription, _ before: RelationshipDescription, _ entity: EntityDescription
    ) throws(ModelError) {
        if before.isToMany, !relationship.isToMany {
            throw refusal(
                entity.name, relationship.name,
                "it changes from to-many to to-one, and the models do not say which object stays")
        }
        if relationship.isToMany, before.isToMany, let now = matching.destination.inverse(of: relationship),
            !now.isToMany, matching.source.inverse(of: before)?.isToMany == true
        {
            throw refusal(
                entity.name, relationship.name,
                "its inverse '\(now.name)' changes from to-many to to-one, and the models do not say which object stays"
            )
        }
        guard let continued = matching.destinationNames[before.destination] else {
            let renaming = matching.source.entity(named: before.destination).flatMap {
                PossibleRenaming(of: $0, matching)
            }
            throw refusal(
                entity.name, relationship.name,
                "its destination '\(before.destination)' was removed, so its objects would refer to nothing",
                remedy: renaming.map {
                    "if '\($0.added)' is the same entity, give it the renaming identifier '\($0.removed)'; or else "
                } ?? "")
        }
        let end = matching.destination.entity(named: continued)!
        guard matching.destination.isKind(end, of: relationship.destination) else {
            throw refusal(
                entity.name, relationship.name,
                "its destination changes from '\(before.destination)' to '\(relationship.destination)', which does not contain the objects of the former"
            )
        }
    }

    private mutating func checkUniqueness(_ entity: EntityDescription, _ old: EntityDescription) {
        let before = Set(matching.source.lineage(of: old).flatMap(\.uniquenessConstraints))
        for constraint in matching.destination.lineage(of: entity).flatMap(\.uniquenessConstraints)
        where !before.contains(constraint) {
            conditions.append(MigrationCondition(.unique(constraint), old.name, entity.name, constraint.first))
        }
    }

    /// - Parameter remedy: A remedy to name before the general one, which ends in a space.
    private func refusal(
        _ entity: String, _ property: String?, _ reason: String, remedy: String = ""
    ) -> ModelError {
        let path = property.map { "\(entity).\($0)" } ?? entity
        var error = ModelError(
            .inferredMappingModel,
            "No mapping can be inferred for '\(path)': \(reason); \(remedy)write a mapping model or a custom stage for it."
        )
        error.entity = entity
        error.property = property
        return error
    }
}

/// The change of an attribute's type of which nothing shows whether Core Data infers a mapping for it.
///
/// Apple says that numeric types are converted (WWDC 2010, session 118), but not whether Decimal, whose values are objects, is one of
/// them. WooCommerce shipped a mapping model for a change from Integer 64 to Decimal alone.
package struct InferenceUncertainty: Sendable, Hashable {
    /// The newer entity.
    package let entity: String
    /// The newer attribute.
    package let attribute: String
    /// The older type.
    package let old: AttributeType
    /// The newer type.
    package let new: AttributeType
}

extension AttributeType {
    /// Whether values are converted when the type changes to another numeric one.
    package var isNumeric: Bool {
        switch self {
        case .integer16, .integer32, .integer64, .decimal, .double, .float, .boolean: true
        default: false
        }
    }

    /// Whether each value of another numeric type is a value of this one, within the precision of this one.
    package func holdsAll(of other: AttributeType) -> Bool {
        func rank(_ type: AttributeType) -> Int {
            switch type {
            case .boolean: 0
            case .integer16: 1
            case .integer32: 2
            case .integer64: 3
            case .float: 4
            case .decimal: 5
            default: 6
            }
        }
        return rank(self) >= rank(other)
    }
}
