extension ManagedObjectModel {
    /// Returns what changed in this version of a model since an older one.
    ///
    ///     for difference in new.differences(from: old) where difference.requiresMigration { print(difference) }
    ///
    /// Renaming identifiers are taken into account. The changes of an entity follow one another, those of entities in
    /// alphabetical order, and removed entities come last.
    public func differences(from old: ManagedObjectModel) -> [ModelDifference] {
        ModelComparison(matching: ModelMatching(from: old, to: self)).differences()
    }
}

/// Finds the differences between two versions of a model.
private struct ModelComparison {
    let matching: ModelMatching

    func differences() -> [ModelDifference] {
        let removed = matching.source.entities.filter { matching.destination(of: $0) == nil }.map(\.name).sorted()
        let found =
            matching.destination.entities.sorted { $0.name < $1.name }.flatMap(differences)
            + removed.map { ModelDifference(.entity, of: $0, .removed) }
        guard matching.source.isCoreDataCopy || matching.destination.isCoreDataCopy else { return found }
        return found.filter { if case .changed(.externalStorage, _, _) = $0.change { false } else { true } }
    }

    private func differences(_ entity: EntityDescription) -> [ModelDifference] {
        guard let old = matching.source(of: entity) else { return [ModelDifference(.entity, of: entity.name, .added)] }
        var found: [ModelDifference] = []
        if old.name != entity.name {
            found.append(ModelDifference(.entity, of: entity.name, .renamed(from: old.name)))
        }
        if let parent = parentChange(old, entity) { found.append(parent) }
        found += SettingComparison.all.compactMap { comparison in
            comparison.difference(old, entity).map {
                ModelDifference(.entity, of: entity.name, $0.change, requiresMigration: $0.requiresMigration)
            }
        }
        let attributes: [ModelDifference] = properties(entity, old) { (_: AttributeDescription, _) in [] }
        return found + attributes + properties(entity, old, endChanges) + indexes(entity, old)
    }

    private func parentChange(_ old: EntityDescription, _ new: EntityDescription) -> ModelDifference? {
        let expected = old.parent.map { matching.destinationNames[$0] ?? $0 }
        guard expected != new.parent else { return nil }
        return ModelDifference(
            .entity, of: new.name, .changed(.parent, from: old.parent ?? "none", to: new.parent ?? "none"))
    }

    // MARK: - Properties

    /// Returns the changes of an entity's own properties of one type.
    ///
    /// - Parameter more: Returns the changes of a property that depend on the rest of the model.
    private func properties<Property: VersionedProperty>(
        _ entity: EntityDescription, _ old: EntityDescription,
        _ more: (Property, Property) -> [ModelDifference.Change]
    ) -> [ModelDifference] {
        func difference(
            _ owner: EntityDescription, _ property: Property, _ change: ModelDifference.Change, _ isNeeded: Bool = true
        ) -> ModelDifference {
            ModelDifference(
                Property.element, of: owner.name, named: property.name, change,
                requiresMigration: isNeeded && !property.isTransient)
        }
        let continued: [String: Property] = matching.properties(of: entity, from: old)
        var found: [ModelDifference] = []
        for property in Property.own(entity).sorted(by: { $0.name < $1.name }) {
            guard let before = continued[property.name] else {
                if let origin = originBelow(entity, property) {
                    found.append(difference(entity, property, .moved(from: origin)))
                } else {
                    found.append(difference(entity, property, .added))
                }
                continue
            }
            if before.name != property.name { found.append(difference(entity, property, .renamed(from: before.name))) }
            if let owner = owner(of: before, in: old), matching.destinationNames[owner.name] != entity.name {
                found.append(difference(entity, property, .moved(from: owner.name)))
            }
            found += Property.comparisons.compactMap { comparison in
                comparison.difference(before, property).map { change, isNeeded in
                    // A property that is transient in both versions is in no store.
                    ModelDifference(
                        Property.element, of: entity.name, named: property.name, change,
                        requiresMigration: isNeeded && !(before.isTransient && property.isTransient))
                }
            }
            found += more(before, property).map { difference(entity, property, $0) }
        }
        let kept = Set(continued.values.map(\.name))
        for property in Property.own(old).sorted(by: { $0.name < $1.name }) where !kept.contains(property.name) {
            let isBelow = matching.destination.children(of: entity).contains { child in
                guard let before = matching.source(of: child) else { return false }
                let continued: [String: Property] = matching.properties(of: child, from: before)
                return continued.values.contains { $0.name == property.name }
            }
            // A property that moved down is a change of the entities that have it now.
            if !isBelow { found.append(difference(entity, property, .removed)) }
        }
        return found
    }

    /// The name of the older entity below this one that declared a property, if the property moved up.
    private func originBelow<Property: VersionedProperty>(_ entity: EntityDescription, _ property: Property) -> String?
    {
        for child in matching.destination.children(of: entity).sorted(by: { $0.name < $1.name }) {
            if let before = matching.source(of: child) {
                let continued: [String: Property] = matching.properties(of: child, from: before)
                if let found = continued[property.name] { return owner(of: found, in: before)?.name }
            }
            if let found = originBelow(child, property) { return found }
        }
        return nil
    }

    /// The older entity that declared a property of an entity's objects.
    private func owner<Property: VersionedProperty>(
        of property: Property, in entity: EntityDescription
    ) -> EntityDescription? {
        matching.source.lineage(of: entity).last { Property.own($0).contains { $0.name == property.name } }
    }

    /// The changes of a relationship's ends; a renamed entity or inverse is not a change of the relationship.
    private func endChanges(
        _ old: RelationshipDescription, _ new: RelationshipDescription
    ) -> [ModelDifference.Change] {
        var found: [ModelDifference.Change] = []
        if matching.destinationNames[old.destination] ?? old.destination != new.destination {
            found.append(.changed(.destination, from: old.destination, to: new.destination))
        }
        if old.inverse != new.inverse, continuedInverse(new)?.name != old.inverse {
            found.append(.changed(.inverse, from: old.inverse ?? "none", to: new.inverse ?? "none"))
        }
        return found
    }

    /// The older relationship that a relationship's inverse continues.
    private func continuedInverse(_ relationship: RelationshipDescription) -> RelationshipDescription? {
        guard let entity = matching.destination.entity(named: relationship.destination),
            let old = matching.source(of: entity), let inverse = relationship.inverse
        else { return nil }
        let continued: [String: RelationshipDescription] = matching.properties(of: entity, from: old)
        return continued[inverse]
    }

    // MARK: - Indexes

    private func indexes(_ entity: EntityDescription, _ old: EntityDescription) -> [ModelDifference] {
        func difference(_ index: FetchIndexDescription, _ change: ModelDifference.Change) -> ModelDifference {
            ModelDifference(.index, of: entity.name, named: index.name, change, requiresMigration: false)
        }
        let before = Dictionary(old.indexes.map { ($0.name, $0) }) { first, _ in first }
        let after = Set(entity.indexes.map(\.name))
        return entity.indexes.sorted { $0.name < $1.name }.flatMap { index -> [ModelDifference] in
            guard let known = before[index.name] else { return [difference(index, .added)] }
            return SettingComparison.all.compactMap { $0.difference(known, index)?.change }.map {
                difference(index, $0)
            }
        } + old.indexes.filter { !after.contains($0.name) }.map { difference($0, .removed) }
    }
}
