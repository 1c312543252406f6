/// A removed and an added entity or property that may be one under two names, whose data a migration then loses.
package struct PossibleRenaming: Sendable, Hashable, CustomStringConvertible {
    /// The newer entity that has the property; `nil` if the entity itself may have been renamed.
    package let entity: String?
    package let removed: String
    package let added: String

    /// The renaming as sentences, with the remedy.
    package var description: String {
        let (old, new) = (path(removed), path(added))
        return entity == nil
            ? "'\(old)' is removed, and '\(new)', which has all its attributes, is added. If it is the same entity, give it the renaming identifier '\(removed)'; without it, its objects are lost."
            : "'\(old)' is removed, and '\(new)' of the same type is added. If it is the same property, give it the renaming identifier '\(removed)'; without it, its values are lost."
    }

    private func path(_ name: String) -> String { entity.map { "\($0).\(name)" } ?? name }

    /// The pairs between two versions, first those of properties.
    package static func all(_ matching: ModelMatching) -> [PossibleRenaming] {
        let newer = matching.destination.entities.sorted { $0.name < $1.name }
        let older = matching.source.entities.sorted { $0.name < $1.name }
        return newer.flatMap { entity in
            matching.source(of: entity).map { properties(of: entity, from: $0, matching) } ?? []
        }
            + older.filter { !$0.isAbstract && matching.destination(of: $0) == nil }.compactMap {
                PossibleRenaming(of: $0, matching)
            }
    }

    /// Finds the only added entity that has all attributes of a removed one, or all relationships if that has no attributes; `nil` if
    /// there is none, or another removed one fits too.
    init?(of old: EntityDescription, _ matching: ModelMatching) {
        let hasAttributes = !(matching.source.properties(of: old) as [AttributeDescription]).allSatisfy(\.isTransient)
        func attributes(_ entity: EntityDescription, _ model: ManagedObjectModel) -> Set<String> {
            if hasAttributes {
                let all: [AttributeDescription] = model.properties(of: entity)
                return Set(all.filter { !$0.isTransient }.map { "\($0.name) \($0.type)" })
            }
            let all: [RelationshipDescription] = model.properties(of: entity)
            return Set(all.filter { !$0.isTransient }.map { "\($0.name) \($0.isToMany)" })
        }
        let wanted = attributes(old, matching.source)
        let added = matching.destination.entities.filter {
            matching.source(of: $0) == nil && !$0.isAbstract
                && attributes($0, matching.destination).isSuperset(of: wanted)
        }
        // An entity with much more is another one, even if both have a name.
        guard !wanted.isEmpty, added.count == 1,
            attributes(added[0], matching.destination).count <= 2 * wanted.count
        else { return nil }
        let offered = attributes(added[0], matching.destination)
        let rivals = matching.source.entities.filter {
            let own = attributes($0, matching.source)
            return matching.destination(of: $0) == nil && !own.isEmpty && offered.isSuperset(of: own)
        }
        guard rivals.count == 1 else { return nil }
        (entity, removed, self.added) = (nil, old.name, added[0].name)
    }

    private init(entity: String, removed: String, added: String) {
        (self.entity, self.removed, self.added) = (entity, removed, added)
    }

    /// The properties of an entity, not inherited ones, that are the only ones on both sides with their type, or with their
    /// destination and cardinality.
    static func properties(
        of entity: EntityDescription, from old: EntityDescription, _ matching: ModelMatching
    ) -> [PossibleRenaming] {
        let attributes: [String: AttributeDescription] = matching.properties(of: entity, from: old)
        let relationships: [String: RelationshipDescription] = matching.properties(of: entity, from: old)
        func lost<Property: VersionedProperty>(_ kept: [String: Property]) -> ([Property], [Property]) {
            let names = Set(kept.values.map(\.name))
            return (
                Property.own(old).filter { !names.contains($0.name) && !$0.isTransient },
                Property.own(entity).filter { kept[$0.name] == nil && !$0.isTransient }
            )
        }
        let (values, ends) = (lost(attributes), lost(relationships))
        // An attribute that other entities have had for long is no new name of another one.
        let others = matching.source.entities.filter { $0.name != old.name }.flatMap(\.attributes)
        let known = Set(others.map { "\($0.name) \($0.type)" })
        let added = values.1.filter { !$0.isDerived }
        return pairs(entity, values.0, added) { $0.type == $1.type }.filter { pair in
            guard let new = added.first(where: { $0.name == pair.added }) else { return false }
            // Flags have a common type, and seldom a common meaning.
            return !known.contains("\(new.name) \(new.type)")
                && (new.type != .boolean || !words(pair.removed).isDisjoint(with: words(pair.added)))
        }
            + pairs(entity, ends.0, ends.1) {
                $0.isToMany == $1.isToMany && matching.destinationNames[$0.destination] == $1.destination
            }
    }

    /// The words of a flag's name, such as `read` and `later` of `isReadLater`.
    private static func words(_ name: String) -> Set<String> {
        let words = name.replacing(/[A-Z]/) { " " + $0.output }.split { !$0.isLetter }.map { $0.lowercased() }
        return Set(words).subtracting(["is", "has", "was", "can", "should", "needs", "to"])
    }

    private static func pairs<Property: VersionedProperty>(
        _ entity: EntityDescription, _ removed: [Property], _ added: [Property], _ fits: (Property, Property) -> Bool
    ) -> [PossibleRenaming] {
        added.compactMap { new in
            let fitting = removed.filter { fits($0, new) }
            guard fitting.count == 1, added.filter({ fits(fitting[0], $0) }).count == 1 else { return nil }
            return PossibleRenaming(entity: entity.name, removed: fitting[0].name, added: new.name)
        }
    }
}
