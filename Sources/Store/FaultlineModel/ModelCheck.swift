/// Finds the first error in a model.
struct ModelCheck {
    /// Limits far above any real model, which keep a hostile one from exhausting memory.
    enum Limit {
        static let entities = 10_000
        static let depth = 100
        static let compositeDepth = 8
        /// The sum over all entities, including inherited properties.
        static let properties = 200_000
    }

    private let entities: [EntityDescription]
    private let configurations: [ConfigurationDescription]
    private var byName: [String: EntityDescription] = [:]

    init(_ entities: [EntityDescription], _ configurations: [ConfigurationDescription] = []) throws(ModelError) {
        self.entities = entities
        self.configurations = configurations
        guard entities.count <= Limit.entities else {
            throw ModelError(
                .tooLarge,
                "The model has \(entities.count) entities, but at most \(Limit.entities) are allowed; split it.")
        }
        for entity in entities {
            guard !entity.name.isEmpty else {
                throw ModelError(
                    .invalidProperty, "An entity declared at \(entity.declaredAt) has no name; give it one.",
                    at: entity.declaredAt)
            }
            // Tables that do not belong to an entity have an underscore after the Z.
            guard Self.isName(entity.name), entity.name.first != "_" else {
                throw ModelError(
                    .invalidName,
                    "Entity '\(entity.name)' has an invalid name; use letters, digits and '_', and begin with a letter.",
                    at: entity.declaredAt)
            }
            guard byName.updateValue(entity, forKey: entity.name) == nil else {
                throw ModelError(
                    .duplicateName, "Two entities are named '\(entity.name)'; rename one of them.",
                    at: entity.declaredAt)
            }
        }
    }

    /// Whether the name can be used for a table or column without quotes.
    static func isName(_ name: String) -> Bool {
        guard let first = name.unicodeScalars.first, !("0"..."9").contains(first) else { return false }
        return name.unicodeScalars.allSatisfy { scalar in
            scalar.isASCII
                ? ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar) || ("0"..."9").contains(scalar)
                    || scalar == "_"
                : scalar.properties.isAlphabetic || scalar.properties.isIDContinue
        }
    }

    func run() throws(ModelError) {
        var count = 0
        for entity in entities {
            try checkParents(of: entity)
            for ancestor in lineage(of: entity) { count += ancestor.attributes.count + ancestor.relationships.count }
            guard count <= Limit.properties else {
                throw ModelError(
                    .tooLarge,
                    "The model has more than the allowed \(Limit.properties) properties, inherited ones included; split it."
                )
            }
        }
        try checkTables()
        for entity in entities {
            try checkNames(of: entity)
            for attribute in entity.attributes { try check(attribute, of: entity) }
            for relationship in entity.relationships { try check(relationship, of: entity) }
            for index in entity.indexes { try check(index, of: entity) }
            for constraint in entity.uniquenessConstraints { try check(constraint, of: entity) }
        }
        for configuration in configurations {
            for name in configuration.entities where byName[name] == nil {
                throw ModelError(
                    .unknownEntity,
                    "Configuration '\(configuration.name)' names the entity '\(name)', which the model does not have; add it or correct the name.",
                    at: configuration.origin.declaredAt)
            }
        }
    }

    private func checkParents(of entity: EntityDescription) throws(ModelError) {
        var seen: Set<String> = [entity.name]
        var next = entity
        while let name = next.parent {
            guard let parent = byName[name] else {
                throw ModelError(
                    .unknownEntity,
                    "Entity '\(next.name)' inherits from '\(name)', which the model does not have; add it or correct the name.",
                    at: next.declaredAt)
            }
            guard seen.insert(name).inserted else {
                throw ModelError(
                    .inheritanceCycle,
                    "Entity '\(entity.name)' inherits from itself through '\(next.name)'; break the cycle.",
                    at: entity.declaredAt)
            }
            guard seen.count <= Limit.depth else {
                throw ModelError(
                    .tooLarge,
                    "Entity '\(entity.name)' inherits through more than \(Limit.depth) levels; make the hierarchy shallower.",
                    at: entity.declaredAt)
            }
            next = parent
        }
    }

    /// Tables and join tables are named in capitals, and SQLite compares the names of indexes without regard to case.
    private func checkTables() throws(ModelError) {
        var tables: [String: String] = [:]
        for entity in entities where entity.parent == nil {
            if let other = tables.updateValue(entity.name, forKey: entity.name.uppercased()) {
                throw ModelError(
                    .duplicateName,
                    "The entities '\(other)' and '\(entity.name)' differ only in case and would share a table; rename one of them."
                )
            }
        }
        for entity in entities {
            var joins: [String: String] = [:]
            for relationship in entity.relationships where relationship.isToMany {
                if let other = joins.updateValue(relationship.name, forKey: relationship.name.uppercased()),
                    other != relationship.name
                {
                    throw ModelError(
                        .duplicateName,
                        "The to-many relationships '\(other)' and '\(relationship.name)' of '\(entity.name)' differ only in case and would share a table; rename one of them."
                    )
                }
            }
            var indexes: [String: String] = [:]
            for index in entity.indexes {
                if let other = indexes.updateValue(index.name, forKey: index.name.uppercased()), other != index.name {
                    throw ModelError(
                        .duplicateName,
                        "The fetch indexes '\(other)' and '\(index.name)' of '\(entity.name)' differ only in case; rename one of them."
                    )
                }
            }
        }
    }

    private func lineage(of entity: EntityDescription) -> [EntityDescription] {
        var lineage = [entity]
        while let name = lineage[lineage.count - 1].parent, let parent = byName[name] { lineage.append(parent) }
        return lineage
    }

    private func checkNames(of entity: EntityDescription) throws(ModelError) {
        var names: Set<String> = []
        for ancestor in lineage(of: entity).reversed() {
            let properties =
                ancestor.attributes.map { ($0.name, $0.declaredAt) }
                + ancestor.relationships.map { ($0.name, $0.declaredAt) }
            for (name, site) in properties {
                guard !name.isEmpty else {
                    throw ModelError(
                        .invalidProperty, "A property of '\(ancestor.name)' has no name; give it one.", at: site)
                }
                guard Self.isName(name) else {
                    throw ModelError(
                        .invalidName,
                        "Property '\(ancestor.name).\(name)' has an invalid name; use letters, digits and '_', and do not begin with a digit.",
                        at: site)
                }
                guard names.insert(name).inserted else {
                    throw ModelError(
                        .duplicateName,
                        "Two properties of '\(entity.name)' are named '\(name)', inherited ones included; rename one of them.",
                        at: site)
                }
            }
        }
        var indexes: Set<String> = []
        for index in entity.indexes {
            guard indexes.insert(index.name).inserted else {
                throw ModelError(
                    .duplicateName,
                    "Two fetch indexes of '\(entity.name)' are named '\(index.name)'; rename one of them.",
                    at: index.origin.declaredAt)
            }
        }
    }

    private func check(_ attribute: AttributeDescription, of entity: EntityDescription) throws(ModelError) {
        let name = "\(entity.name).\(attribute.name)"
        if attribute.type == .undefined, !attribute.isTransient {
            throw ModelError(
                .invalidProperty, "Attribute '\(name)' has no type but is stored; give it a type or make it transient.",
                at: attribute.declaredAt)
        }
        try check(elementsOf: attribute, name, depth: 1)
        if let value = attribute.defaultValue, !value.fits(attribute.type) {
            throw ModelError(
                .invalidProperty,
                "The default of attribute '\(name)' is \(value), which is not a value of type \(attribute.type.rawValue); correct one of them.",
                at: attribute.declaredAt)
        }
        if attribute.allowsExternalBinaryDataStorage, attribute.type != .binary, attribute.type != .transformable {
            throw ModelError(
                .invalidProperty,
                "Attribute '\(name)' of type \(attribute.type.rawValue) cannot be stored in external files; only Binary and Transformable can.",
                at: attribute.declaredAt)
        }
    }

    private func check(elementsOf attribute: AttributeDescription, _ name: String, depth: Int) throws(ModelError) {
        guard attribute.isDivided else { return }
        guard depth <= Limit.compositeDepth else {
            throw ModelError(
                .tooLarge,
                "Attribute '\(name)' nests composites more than \(Limit.compositeDepth) levels deep; make them shallower.",
                at: attribute.declaredAt)
        }
        var names: Set<String> = []
        for element in attribute.elements {
            guard Self.isName(element.name), element.type != .undefined, names.insert(element.name).inserted else {
                throw ModelError(
                    .invalidProperty,
                    "The element '\(element.name)' of attribute '\(name)' has no type, or a name that is invalid or taken; correct it.",
                    at: attribute.declaredAt)
            }
            try check(elementsOf: element, "\(name).\(element.name)", depth: depth + 1)
        }
    }

    private func check(_ relationship: RelationshipDescription, of entity: EntityDescription) throws(ModelError) {
        let name = "\(entity.name).\(relationship.name)"
        guard let destination = byName[relationship.destination] else {
            throw ModelError(
                .unknownEntity,
                "Relationship '\(name)' has the destination '\(relationship.destination)', which the model does not have; add it or correct the name.",
                at: relationship.declaredAt)
        }
        guard let inverseName = relationship.inverse else { return }
        let inverses = lineage(of: destination).flatMap { owner in owner.relationships.map { (owner, $0) } }
        guard let (owner, inverse) = inverses.first(where: { $0.1.name == inverseName }) else {
            throw ModelError(
                .unknownInverse,
                "The inverse of '\(name)' is named '\(inverseName)', which '\(destination.name)' does not have; add it or correct the name.",
                at: relationship.declaredAt)
        }
        guard owner.name == destination.name else {
            throw ModelError(
                .inverseMismatch,
                "The inverse of '\(name)' belongs to '\(owner.name)', not to '\(destination.name)'; make '\(owner.name)' the relationship's destination.",
                at: relationship.declaredAt)
        }
        guard inverse.inverse == relationship.name, inverse.destination == entity.name else {
            throw ModelError(
                .inverseMismatch,
                "The inverse of '\(name)', '\(destination.name).\(inverseName)', does not point back; make '\(relationship.name)' of '\(entity.name)' its inverse.",
                at: relationship.declaredAt)
        }
    }

    private func check(_ index: FetchIndexDescription, of entity: EntityDescription) throws(ModelError) {
        guard Self.isName("i" + index.name) else {
            throw ModelError(
                .invalidName,
                "Fetch index '\(index.name)' of '\(entity.name)' has an invalid name; use letters, digits and '_'.",
                at: index.origin.declaredAt)
        }
        guard !index.elements.isEmpty else {
            throw ModelError(
                .invalidIndex,
                "Fetch index '\(index.name)' of '\(entity.name)' has no elements; name the properties to index.",
                at: index.origin.declaredAt)
        }
        for element in index.elements where element.expression == nil {
            guard isStored(element.property, of: entity) else {
                throw ModelError(
                    .invalidIndex,
                    "Fetch index '\(index.name)' of '\(entity.name)' names '\(element.property)', which is not a stored attribute or to-one relationship of it; correct the name.",
                    at: index.origin.declaredAt)
            }
        }
    }

    private func check(_ constraint: [String], of entity: EntityDescription) throws(ModelError) {
        for name in constraint where !isStored(name, of: entity) {
            throw ModelError(
                .invalidIndex,
                "A uniqueness constraint of '\(entity.name)' names '\(name)', which is not a stored attribute or to-one relationship of it; correct the name.",
                at: entity.declaredAt)
        }
    }

    /// Whether an entity has a column for a property.
    private func isStored(_ name: String, of entity: EntityDescription) -> Bool {
        lineage(of: entity).contains { owner in
            owner.attributes.contains { $0.name == name && !$0.isTransient && !$0.isDivided }
                || owner.relationships.contains { $0.name == name && !$0.isToMany && !$0.isTransient }
        }
    }
}
