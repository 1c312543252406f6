/// The layout of a model in SQLite, compatible with Core Data's schema.
package final class ModelSchema: Sendable {
    /// The entities by number: each root is followed by its descendants, and roots are in alphabetical order.
    package let entities: [EntitySchema]
    /// The statements that create the tables and indexes, without the store's own three tables.
    package var statements: [String] { statements(forTables: nil) }
    package let digest: String
    private let unlocatedComposites: [String]
    /// The tables of entities with composite attributes.
    private let compositeTables: Set<String>

    private let labelledStatements: [(table: String, text: String)]
    private let positions: [String: Int]
    private let indexesByNumber: [Int64: Int]

    /// Computes the layout of entities.
    ///
    /// - Parameters:
    ///   - numbers: The numbers of entities in an existing store; empty to number them from 1.
    ///   - storedColumns: The columns of an existing store's join tables and ``partlyKnownTables``, by table. Core Data names a join
    ///     table for either side of its relationship.
    package init(
        _ descriptions: [EntityDescription], numbers: [String: Int64], storedColumns: [String: Set<String>] = [:]
    ) {
        let layout = SchemaLayout(descriptions, numbers: numbers, storedColumns: storedColumns)
        entities = layout.makeEntities()
        positions = layout.positions
        indexesByNumber = Dictionary(entities.map { ($0.number, $0.index) }) { first, _ in first }
        labelledStatements = layout.statements(entities)
        digest = layout.digest(entities)
        unlocatedComposites = layout.unlocatedComposites
        compositeTables = Set(entities.filter { $0.properties.contains { $0.name.contains(".") } }.map(\.table))
    }

    /// Returns the property at the end of a key path from an entity, or `nil`.
    package func property(_ keyPath: String, of entity: EntitySchema) -> PropertySchema? {
        var (entity, found) = (entity, PropertySchema?.none)
        for name in keyPath.split(separator: ".") {
            if let found {
                guard let destination = destination(of: found) else { return nil }
                entity = destination
            }
            guard let property = entity.property(String(name)) else { return nil }
            found = property
        }
        return found
    }

    /// Returns the statements that create the tables and indexes of some entities.
    ///
    /// - Parameter tables: The entities' tables; `nil` for all.
    package func statements(forTables tables: Set<String>?) -> [String] {
        labelledStatements.filter { tables?.contains($0.table) != false }.map(\.text)
    }

    /// Returns a digest of the indexes of some entities.
    ///
    /// - Parameter tables: The entities' tables; `nil` for all.
    package func indexDigest(forTables tables: Set<String>?) -> String {
        var digest = LayoutDigest()
        for text in statements(forTables: tables).sorted() where !text.hasPrefix("CREATE TABLE ") { digest.add(text) }
        return digest.text
    }

    /// Returns a digest of the layout of some entities, independent of the rest of the model.
    package func digest(of names: Set<String>) -> String {
        var digest = LayoutDigest()
        for entity in entities where names.contains(entity.name) {
            let parent = entity.parent.map { entities[$0].name } ?? ""
            digest.add("\(entity.name) \(parent) \(entity.isAbstract) \(entity.table)")
            for property in entity.properties where !property.isTransient {
                let destination = destination(of: property)?.name ?? ""
                digest.add(
                    "\(property.name) \(property.kind) \(property.column) \(destination) \(property.isExternal) \(property.isOrdered)"
                )
                if let derivation = property.derivation { digest.add(derivation) }
            }
        }
        return digest.text
    }

    /// Returns the entity that a relationship leads to, or `nil` for an attribute.
    package func destination(of property: PropertySchema) -> EntitySchema? {
        property.destination < 0 ? nil : entities[property.destination]
    }

    /// Returns the inverse of a relationship, or `nil` if it has none or the property is an attribute.
    package func inverse(of property: PropertySchema) -> PropertySchema? {
        property.inverse.map { entities[property.destination].properties[$0] }
    }

    /// Returns the inverse of a to-many relationship that has neither a join table nor another table of its members.
    package func memberKey(of property: PropertySchema) -> PropertySchema {
        guard let inverse = inverse(of: property) else {
            fatalError("'\(property.name)' has no inverse, so no store can be open with it.")
        }
        return inverse
    }

    /// The tables whose columns only an existing store shows: of to-many relationships without an inverse, and of composite attributes.
    package var partlyKnownTables: Set<String> {
        compositeTables.union(
            entities.flatMap(\.properties).compactMap { $0.joinTable?.isOfMembers == true ? $0.joinTable?.table : nil })
    }

    /// A property that a store has no column for, such as `Person.likes`, and what it is; `nil` if there is none.
    ///
    /// It is a composite attribute or a to-many relationship without an inverse, for which names of columns are not known well.
    package var unlocatedProperty: (name: String, what: String)? {
        if let name = unlocatedComposites.first { return (name, "a composite attribute") }
        for entity in entities {
            for property in entity.properties
            where property.kind == .toMany && property.inverse == nil && !property.isTransient {
                return ("\(entity.name).\(property.name)", "a to-many relationship without an inverse")
            }
        }
        return nil
    }

    /// The tables in which a composite attribute has no columns that are known.
    package var unlocatedTables: Set<String> {
        Set(unlocatedComposites.compactMap { name in entity(named: String(name.prefix { $0 != "." }))?.table })
    }

    package func entity(named name: String) -> EntitySchema? {
        positions[name].map { entities[$0] }
    }

    /// Returns the index of the entity with that `Z_ENT`, or `nil`.
    package func position(ofNumber number: Int64) -> Int? {
        indexesByNumber[number]
    }
}
