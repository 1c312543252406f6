/// Makes the entities of a model from classes: those that are given, and those that they lead to.
struct EntityAssembly {
    /// The classes: the given ones in their order, then what they inherit from and lead to.
    private(set) var types: [any Entity.Type] = []
    private(set) var entities: [EntityDescription] = []
    private var places: [String: Int] = [:]

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
        // A class that only inherits from an entity's has that entity.
        let type = type.entityDeclaration.type
        guard !types.contains(where: { $0 == type }) else { return }
        // Where two classes say the same name, the model's check says so.
        if places[type.entityName] == nil { places[type.entityName] = types.count }
        types.append(type)
    }

    /// A relationship that names its inverse is the inverse of that.
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

    /// Two relationships between the same entities are each other's inverse if nothing else can be meant.
    private mutating func inferInverses() {
        for place in entities.indices {
            for relationship in entities[place].relationships.indices {
                guard let (owner, inverse) = onlyCounterpart(of: relationship, in: place),
                    let counterpart = onlyCounterpart(of: inverse, in: owner), counterpart == (place, relationship)
                else { continue }
                entities[place].relationships[relationship].inverse = entities[owner].relationships[inverse].name
                entities[owner].relationships[inverse].inverse = entities[place].relationships[relationship].name
            }
        }
    }

    /// The only relationship that leads back from a relationship's destination and has no inverse yet.
    private func onlyCounterpart(of relationship: Int, in place: Int) -> (entity: Int, relationship: Int)? {
        guard isOpen(relationship, in: place),
            let owner = places[entities[place].relationships[relationship].destination]
        else { return nil }
        let candidates = entities[owner].relationships.indices.filter { candidate in
            isOpen(candidate, in: owner) && entities[owner].relationships[candidate].destination == entities[place].name
                && (owner, candidate) != (place, relationship)
        }
        return candidates.count == 1 ? (owner, candidates[0]) : nil
    }

    private func isOpen(_ relationship: Int, in place: Int) -> Bool {
        declaredInverse(place, relationship) == .inferred && entities[place].relationships[relationship].inverse == nil
    }

    private func declaredInverse(_ place: Int, _ relationship: Int) -> RelationshipSettings.Inverse {
        types[place].entityDeclaration.relationships[relationship].inverse
    }

    /// The relationship of that name, of an entity or of one that it inherits from.
    private func find(_ name: String, from entity: String) -> (entity: Int, relationship: Int)? {
        var next: String? = entity
        while let owner = next, let place = places[owner] {
            if let found = entities[place].relationships.firstIndex(where: { $0.name == name }) {
                return (place, found)
            }
            next = entities[place].parent
        }
        return nil
    }
}
