/// The parts of an older model that the parts of a newer one continue.
///
/// One rule decides for entities, attributes and relationships. A part continues the one with its name. Failing that, it continues
/// the one that its renaming identifier names, or the one with the same renaming identifier, unless another part has that one's
/// name. The identifier can therefore stay in all later versions.
package struct ModelMatching: Sendable {
    package let source: ManagedObjectModel
    package let destination: ManagedObjectModel
    /// The names of source entities, by the names of those that continue them.
    package let sourceNames: [String: String]
    /// The names of destination entities, by the names of those that they continue.
    package let destinationNames: [String: String]

    package init(from source: ManagedObjectModel, to destination: ManagedObjectModel) {
        self.source = source
        self.destination = destination
        sourceNames = Self.match(source.entities, destination.entities)
        destinationNames = Dictionary(uniqueKeysWithValues: sourceNames.map { ($1, $0) })
    }

    /// Returns the entity that a newer one continues, or `nil` if it is new.
    package func source(of entity: EntityDescription) -> EntityDescription? {
        sourceNames[entity.name].flatMap { source.entity(named: $0) }
    }

    /// Returns the entity that continues an older one, or `nil` if it was removed.
    package func destination(of entity: EntityDescription) -> EntityDescription? {
        destinationNames[entity.name].flatMap { destination.entity(named: $0) }
    }

    /// Returns the older properties that a newer entity's properties continue, by name, with inherited ones on both sides.
    func properties<Property: VersionedProperty>(
        of entity: EntityDescription, from old: EntityDescription
    ) -> [String: Property] {
        let known: [Property] = source.properties(of: old)
        let new: [Property] = destination.properties(of: entity)
        return Self.match(known, new).mapValues { name in known.first { $0.name == name }! }
    }

    /// Returns the names of older properties, by the names of a newer entity's properties that continue them.
    ///
    /// Transient properties have nothing in a store to continue.
    package func propertyNames(of entity: EntityDescription, from old: EntityDescription) -> [String: String] {
        let attributes: [String: AttributeDescription] = properties(of: entity, from: old)
        let relationships: [String: RelationshipDescription] = properties(of: entity, from: old)
        return attributes.filter { !$0.value.isTransient }.mapValues(\.name)
            .merging(relationships.filter { !$0.value.isTransient }.mapValues(\.name)) { first, _ in first }
    }

    /// Returns the names of older parts, by the names of the newer parts that continue them; each is continued once.
    private static func match<Part: VersionedPart>(_ older: [Part], _ newer: [Part]) -> [String: String] {
        let oldNames = Set(older.map(\.name))
        let newNames = Set(newer.map(\.name))
        var found: [String: String] = [:]
        // A name that still exists belongs to the part that has it, whatever an identifier says.
        var taken = oldNames.intersection(newNames)
        for name in taken { found[name] = name }
        for part in newer.sorted(by: { $0.name < $1.name }) where found[part.name] == nil {
            guard let identifier = part.renamingIdentifier else { continue }
            let named = oldNames.contains(identifier) ? identifier : nil
            let shared = older.first { $0.renamingIdentifier == identifier && !taken.contains($0.name) }?.name
            guard let name = named.flatMap({ taken.contains($0) ? nil : $0 }) ?? shared else { continue }
            found[part.name] = name
            taken.insert(name)
        }
        return found
    }
}
