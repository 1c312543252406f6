/// Finds the first thing that is wrong with a list of entities.
struct ModelCheck {
    private let entities: [EntityDescription]
    private var byName: [String: EntityDescription] = [:]

    init(_ entities: [EntityDescription]) throws(ModelError) {
        self.entities = entities
        for entity in entities {
            guard !entity.name.isEmpty else {
                throw ModelError(
                    .invalidProperty, "An entity declared at \(entity.declaredAt) has no name; give it one.")
            }
            guard byName.updateValue(entity, forKey: entity.name) == nil else {
                throw ModelError(.duplicateName, "Two entities are called '\(entity.name)'; rename one of them.")
            }
            // The tables that are not an entity's begin with an underscore behind the Z, too.
            guard Self.isIdentifier(entity.name), !entity.name.hasPrefix("_") else {
                throw ModelError(
                    .invalidProperty,
                    "The entity '\(entity.name)' cannot have a table, because its name is no identifier; let it begin with a letter, and use letters, digits and underscores."
                )
            }
        }
    }

    func run() throws(ModelError) {
        for entity in entities {
            try checkParents(of: entity)
        }
        try checkTables()
        for entity in entities {
            try checkNames(of: entity)
            for attribute in entity.attributes { try check(attribute, of: entity) }
            for relationship in entity.relationships { try check(relationship, of: entity) }
            for index in entity.indexes { try check(index, of: entity) }
        }
    }

    private func checkParents(of entity: EntityDescription) throws(ModelError) {
        var seen: Set<String> = [entity.name]
        var next = entity
        while let name = next.parent {
            guard let parent = byName[name] else {
                throw ModelError(
                    .unknownEntity,
                    "Entity '\(next.name)' inherits from '\(name)', which the model does not have; add it or correct the name."
                )
            }
            guard seen.insert(name).inserted else {
                throw ModelError(
                    .inheritanceCycle,
                    "Entity '\(entity.name)' inherits from itself by way of '\(next.name)'; break the circle.")
            }
            next = parent
        }
    }

    /// Tables, join tables and indexes are named for what they hold, in capitals or without regard to them.
    private func checkTables() throws(ModelError) {
        var tables: [String: String] = [:]
        for entity in entities where entity.parent == nil {
            if let other = tables.updateValue(entity.name, forKey: entity.name.uppercased()) {
                throw ModelError(
                    .duplicateName,
                    "The entities '\(other)' and '\(entity.name)' differ in case only and would share a table; rename one of them."
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
                        "The to-many relationships '\(other)' and '\(relationship.name)' of '\(entity.name)' differ in case only and would share a table; rename one of them."
                    )
                }
            }
            var indexes: [String: String] = [:]
            for index in entity.indexes {
                guard Self.isIdentifier(index.name) else {
                    throw ModelError(
                        .invalidIndex,
                        "The fetch index '\(index.name)' of '\(entity.name)' cannot be made, because its name is no identifier; use letters, digits and underscores."
                    )
                }
                if let other = indexes.updateValue(index.name, forKey: index.name.uppercased()), other != index.name {
                    throw ModelError(
                        .duplicateName,
                        "The fetch indexes '\(other)' and '\(index.name)' of '\(entity.name)' differ in case only; rename one of them."
                    )
                }
            }
        }
    }

    /// Whether SQL takes a name as it is: letters, digits and underscores, and no digit at the start.
    private static func isIdentifier(_ name: String) -> Bool {
        name.allSatisfy { $0.isLetter || $0 == "_" || $0.isWholeNumber && $0.isASCII } && name.first?.isNumber == false
    }

    private func lineage(of entity: EntityDescription) -> [EntityDescription] {
        var lineage = [entity]
        while let name = lineage[lineage.count - 1].parent, let parent = byName[name] { lineage.append(parent) }
        return lineage
    }

    private func checkNames(of entity: EntityDescription) throws(ModelError) {
        var names: Set<String> = []
        for ancestor in lineage(of: entity).reversed() {
            for name in ancestor.attributes.map(\.name) + ancestor.relationships.map(\.name) {
                guard !name.isEmpty else {
                    throw ModelError(.invalidProperty, "A property of '\(ancestor.name)' has no name; give it one.")
                }
                guard Self.isIdentifier(name) else {
                    throw ModelError(
                        .invalidProperty,
                        "The property '\(ancestor.name).\(name)' cannot have a column, because its name is no identifier; use letters, digits and underscores."
                    )
                }
                guard names.insert(name).inserted else {
                    throw ModelError(
                        .duplicateName,
                        "Two properties of '\(entity.name)' are called '\(name)', inherited ones included; rename one of them."
                    )
                }
            }
        }
        var indexes: Set<String> = []
        for index in entity.indexes where !indexes.insert(index.name).inserted {
            throw ModelError(
                .duplicateName, "Two fetch indexes of '\(entity.name)' are called '\(index.name)'; rename one of them.")
        }
    }

    private func check(_ attribute: AttributeDescription, of entity: EntityDescription) throws(ModelError) {
        let name = "\(entity.name).\(attribute.name)"
        if attribute.type == .undefined, !attribute.isTransient {
            throw ModelError(
                .invalidProperty, "Attribute '\(name)' has no type but is stored; give it a type or make it transient.")
        }
        if let value = attribute.defaultValue, !value.fits(attribute.type) {
            throw ModelError(
                .invalidProperty,
                "The default of attribute '\(name)' is \(value), which is no value of type \(attribute.type.rawValue); correct one of them."
            )
        }
        if attribute.allowsExternalBinaryDataStorage, attribute.type != .binary, attribute.type != .transformable {
            throw ModelError(
                .invalidProperty,
                "Attribute '\(name)' of type \(attribute.type.rawValue) cannot be kept in external files; only Binary and Transformable can."
            )
        }
    }

    private func check(_ relationship: RelationshipDescription, of entity: EntityDescription) throws(ModelError) {
        let name = "\(entity.name).\(relationship.name)"
        guard let destination = byName[relationship.destination] else {
            throw ModelError(
                .unknownEntity,
                "Relationship '\(name)' leads to '\(relationship.destination)', which the model does not have; add it or correct the name."
            )
        }
        guard let inverseName = relationship.inverse else {
            if relationship.isToMany {
                throw ModelError(
                    .unknownInverse,
                    "Relationship '\(name)' is to-many and has no inverse; add one to '\(destination.name)' and name it."
                )
            }
            return
        }
        let inverses = lineage(of: destination).flatMap { owner in owner.relationships.map { (owner, $0) } }
        guard let (owner, inverse) = inverses.first(where: { $0.1.name == inverseName }) else {
            throw ModelError(
                .unknownInverse,
                "The inverse of '\(name)' is called '\(inverseName)', which '\(destination.name)' does not have; add it or correct the name."
            )
        }
        guard owner.name == destination.name else {
            throw ModelError(
                .inverseMismatch,
                "The inverse of '\(name)' belongs to '\(owner.name)', not to '\(destination.name)'; let the relationship lead to '\(owner.name)'."
            )
        }
        guard inverse.inverse == relationship.name, inverse.destination == entity.name else {
            throw ModelError(
                .inverseMismatch,
                "The inverse of '\(name)', '\(destination.name).\(inverseName)', does not point back; make '\(relationship.name)' of '\(entity.name)' its inverse."
            )
        }
    }

    private func check(_ index: FetchIndexDescription, of entity: EntityDescription) throws(ModelError) {
        guard !index.elements.isEmpty else {
            throw ModelError(
                .invalidIndex,
                "Fetch index '\(index.name)' of '\(entity.name)' has no elements; name the properties to index.")
        }
        let lineage = lineage(of: entity)
        for element in index.elements {
            let isAttribute = lineage.contains { owner in
                owner.attributes.contains { $0.name == element.property && !$0.isTransient }
            }
            let isToOne = lineage.contains { owner in
                owner.relationships.contains { $0.name == element.property && !$0.isToMany }
            }
            guard isAttribute || isToOne else {
                throw ModelError(
                    .invalidIndex,
                    "Fetch index '\(index.name)' of '\(entity.name)' names '\(element.property)', which is no stored attribute or to-one relationship of it; correct the name."
                )
            }
        }
    }
}
