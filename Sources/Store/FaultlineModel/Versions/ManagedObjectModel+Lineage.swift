extension ManagedObjectModel {
    /// Returns an entity and its ancestors, the root first.
    package func lineage(of entity: EntityDescription) -> [EntityDescription] {
        var found = [entity]
        while let parent = found[0].parent.flatMap({ self.entity(named: $0) }) { found.insert(parent, at: 0) }
        return found
    }

    /// Returns the attributes or the relationships of an entity's objects, inherited ones first.
    func properties<Property: VersionedProperty>(of entity: EntityDescription) -> [Property] {
        lineage(of: entity).flatMap { Property.own($0) }
    }

    /// Returns the entities that inherit from one directly.
    func children(of entity: EntityDescription) -> [EntityDescription] {
        entities.filter { $0.parent == entity.name }
    }

    /// Returns the relationship at the other end of one, if it has an inverse.
    func inverse(of relationship: RelationshipDescription) -> RelationshipDescription? {
        guard let name = relationship.inverse, let entity = entity(named: relationship.destination) else { return nil }
        let ends: [RelationshipDescription] = properties(of: entity)
        return ends.first { $0.name == name }
    }

    /// Whether an entity inherits from another one, directly or not, or is that one.
    func isKind(_ entity: EntityDescription, of name: String) -> Bool {
        lineage(of: entity).contains { $0.name == name }
    }
}
