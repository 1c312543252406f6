/// The expressions that a mapping model's file implies, and the names that its expressions may use.
struct MappingDefaults {
    let source: ManagedObjectModel
    let destination: ManagedObjectModel

    /// The older object's attribute of the same name, if it has one.
    func expression(for attribute: AttributeDescription, from old: EntityDescription?) -> MappingExpression? {
        guard let old, !attribute.isTransient else { return nil }
        let attributes: [AttributeDescription] = source.properties(of: old)
        guard attributes.contains(where: { $0.name == attribute.name && !$0.isTransient }) else { return nil }
        return .source(attribute.name)
    }

    /// The newer objects for the members of the older object's relationship of the same name, if it has one.
    ///
    /// The expression names a mapping only if that mapping makes all of these objects. Neither destination may then
    /// have subentities, and there may be no other mapping between them.
    func expression(
        for relationship: RelationshipDescription, from old: EntityDescription?, _ mappings: [EntityMapping]
    ) -> MappingExpression? {
        guard let old, !relationship.isTransient else { return nil }
        let relationships: [RelationshipDescription] = source.properties(of: old)
        guard let before = relationships.first(where: { $0.name == relationship.name && !$0.isTransient }) else {
            return nil
        }
        let fitting = mappings.filter {
            $0.sourceEntityName == before.destination || $0.destinationEntityName == relationship.destination
        }
        guard fitting.count == 1, fitting[0].sourceEntityName == before.destination,
            fitting[0].destinationEntityName == relationship.destination,
            !source.entities.contains(where: { $0.parent == before.destination }),
            !destination.entities.contains(where: { $0.parent == relationship.destination })
        else { return .destinationInstances(forSourceRelationshipNamed: before.name) }
        return .destinationInstances(forEntityMappingNamed: fitting[0].name, sourceInstances: .source(before.name))
    }

    /// Whether a mapping has an expression for each stored property.
    func areComplete(
        _ mapping: EntityMapping, _ attributes: [AttributeDescription], _ relationships: [RelationshipDescription]
    ) -> Bool {
        let mapped = Set(
            (mapping.attributeMappings + mapping.relationshipMappings).filter { $0.valueExpression != nil }.map(\.name))
        return attributes.allSatisfy { $0.isTransient || $0.isDerived || mapped.contains($0.name) }
            && relationships.allSatisfy { $0.isTransient || mapped.contains($0.name) }
    }

    // MARK: - Names

    /// Returns the first property that an expression reads but that objects of the older entity do not have: `Car.colour`.
    func missingProperty(in expression: MappingExpression, from old: EntityDescription) -> String? {
        switch expression {
        case .keyPath(.variable(.source), let path): missingProperty(on: path, from: old)
        case .constant, .variable: nil
        case .keyPath(let operand, _), .cast(let operand, type: _): missingProperty(in: operand, from: old)
        case .function(let receiver, selector: _, let arguments):
            ([receiver] + arguments).lazy.compactMap { missingProperty(in: $0, from: old) }.first
        case .fetch(let request, let context, countsOnly: _):
            missingProperty(in: request, from: old) ?? missingProperty(in: context, from: old)
        }
    }

    /// Follows a key path as far as it leads from object to object; operators such as `@distinctUnionOfSets` do not change the object.
    private func missingProperty(on path: String, from old: EntityDescription) -> String? {
        var entity = old
        for name in path.split(separator: ".").map(String.init) where !name.hasPrefix("@") {
            if ["self", "objectID", "entity"].contains(name) { return nil }
            // An object can be one of a subentity, which has more properties.
            let kinds = source.entities.filter { source.isKind($0, of: entity.name) }
            let relationships: [RelationshipDescription] = (kinds + [entity]).flatMap(source.properties)
            if let next = relationships.first(where: { $0.name == name }) {
                guard let destination = source.entity(named: next.destination) else { return nil }
                entity = destination
                continue
            }
            let attributes: [AttributeDescription] = kinds.flatMap(source.properties)
            let others = source.lineage(of: entity).flatMap(\.fetchedProperties)
            let isKnown =
                attributes.contains { $0.name == name } || others.contains { $0.name == name }
            // The model does not describe the properties of an attribute's value.
            return isKnown ? nil : "\(entity.name).\(name)"
        }
        return nil
    }
}

extension MappingExpression {
    /// The names of mappings whose objects the expression finds.
    var mappingNames: [String] {
        switch self {
        case .constant, .variable: []
        case .keyPath(let operand, _), .cast(let operand, type: _): operand.mappingNames
        case .function(let receiver, let selector, let arguments):
            Self.named(selector, arguments) + ([receiver] + arguments).flatMap(\.mappingNames)
        case .fetch(let request, let context, countsOnly: _): request.mappingNames + context.mappingNames
        }
    }

    private static func named(_ selector: String, _ arguments: [MappingExpression]) -> [String] {
        guard selector == instancesOfMapping, case .constant(.string(let name)?)? = arguments.first else { return [] }
        return [name]
    }
}
