/// Assembles the entities of a model from classes and the classes that they refer to.
struct EntityAssembly {
    /// The given classes in order, followed by their superclasses and the destinations of their relationships.
    private(set) var types: [any Entity.Type] = []
    private(set) var entities: [EntityDescription] = []
    private var positions: [String: Int] = [:]

    init(_ given: [any Entity.Type]) {
        for type in given { add(type) }
        var next = 0
        while next < types.count {
            let declaration = types[next].entityDeclaration
            if let parent = declaration.parent { add(parent) }
            for relationship in declaration.relationships {
                if let type = relationship.destination as? any Entity.Type { add(type) }
            }
            next += 1
        }
        entities = types.map { $0.entityDeclaration.description }
        completeInverses()
        inferInverses()
    }

    private mutating func add(_ type: any Entity.Type) {
        // A plain subclass of an entity's class has that entity.
        let type = type.entityDeclaration.type
        guard !types.contains(where: { $0 == type }) else { return }
        // If two classes declare the same name, the validation of the model reports it.
        if positions[type.entityName] == nil { positions[type.entityName] = types.count }
        types.append(type)
    }

    /// If a relationship names its inverse, completes the other side.
    private mutating func completeInverses() {
        for type in types {
            for relationship in type.entityDeclaration.relationships {
                guard case .named(let name) = relationship.inverse,
                    let (owner, inverse) = find(name, from: relationship.description.destination),
                    declaredInverse(owner, inverse) == .inferred, entities[owner].relationships[inverse].inverse == nil
                else { continue }
                entities[owner].relationships[inverse].inverse = relationship.description.name
            }
        }
    }

    /// Pairs two relationships between the same entities, if the choice is unambiguous.
    private mutating func inferInverses() {
        for position in entities.indices {
            for relationship in entities[position].relationships.indices {
                guard let (owner, inverse) = onlyCounterpart(of: relationship, in: position),
                    let counterpart = onlyCounterpart(of: inverse, in: owner), counterpart == (position, relationship)
                else { continue }
                entities[position].relationships[relationship].inverse = entities[owner].relationships[inverse].name
                entities[owner].relationships[inverse].inverse = entities[position].relationships[relationship].name
            }
        }
    }

    /// The only relationship from the destination back to the entity that has no inverse yet.
    private func onlyCounterpart(of relationship: Int, in position: Int) -> (entity: Int, relationship: Int)? {
        guard isOpen(relationship, in: position),
            let owner = positions[entities[position].relationships[relationship].destination]
        else { return nil }
        let candidates = entities[owner].relationships.indices.filter { candidate in
            isOpen(candidate, in: owner)
                && entities[owner].relationships[candidate].destination == entities[position].name
                && (owner, candidate) != (position, relationship)
        }
        return candidates.count == 1 ? (owner, candidates[0]) : nil
    }

    private func isOpen(_ relationship: Int, in position: Int) -> Bool {
        declaredInverse(position, relationship) == .inferred
            && entities[position].relationships[relationship].inverse == nil
    }

    private func declaredInverse(_ position: Int, _ relationship: Int) -> RelationshipSettings.Inverse {
        types[position].entityDeclaration.relationships[relationship].inverse
    }

    /// The relationship with a name, in an entity or its ancestors.
    private func find(_ name: String, from entity: String) -> (entity: Int, relationship: Int)? {
        var next: String? = entity
        while let owner = next, let position = positions[owner] {
            if let found = entities[position].relationships.firstIndex(where: { $0.name == name }) {
                return (position, found)
            }
            next = entities[position].parent
        }
        return nil
    }
}
