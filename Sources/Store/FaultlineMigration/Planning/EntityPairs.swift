import FaultlineModel
import FaultlineStore

/// An entity of an older model version, and the newer version's entity that its objects get.
struct EntityPair {
    let old: EntitySchema
    let new: EntitySchema
    /// The names of the older properties, by those of the newer ones that continue them.
    let names: [String: String]
    /// The values that newer attributes get in all objects, by name.
    let constants: [String: AttributeValue?]

    /// Returns the older property that a newer one continues, or `nil` if it is new or the older one is a transient relationship.
    func source(of property: PropertySchema) -> PropertySchema? {
        names[property.name].flatMap { old.property($0) }.flatMap { $0.isTransient && $0.isRelationship ? nil : $0 }
    }
}

/// The entities of two model versions, as they are in a store's file and as they will be.
struct EntityPairs {
    let old: ModelSchema
    let new: ModelSchema
    /// The pairs of concrete entities, whose objects are carried over.
    let pairs: [EntityPair]
    /// The tables of the older and the newer version that the store has or will have.
    let oldTables: Set<String>
    let newTables: Set<String>

    /// The number added to the keys of an older table's rows in a newer table that merges several older ones.
    private var offsets: [TablePair: Int64] = [:]
    private let byOld: [Int: EntityPair]
    /// The indices of the older entities with a relationship, by the relationship's number.
    private let owners: [Int: [Int]]

    private struct TablePair: Hashable {
        let old: String
        let new: String
    }

    /// Makes pairs of the entities that continue each other, as far as the store has them.
    init(_ links: [MigrationRules.Link], from old: StoreVersion, to new: StoreVersion) {
        (self.old, self.new) = (old.schema, new.schema)
        (oldTables, newTables) = (Set(old.storedEntities.map(\.table)), Set(new.storedEntities.map(\.table)))
        pairs = links.compactMap { link -> EntityPair? in
            guard old.has(link.old), new.has(link.new), let before = old.schema.entity(named: link.old),
                let entity = new.schema.entity(named: link.new), !before.isAbstract, !entity.isAbstract
            else { return nil }
            return EntityPair(old: before, new: entity, names: link.names, constants: link.constants)
        }
        byOld = Dictionary(uniqueKeysWithValues: pairs.map { ($0.old.index, $0) })
        var owners: [Int: [Int]] = [:]
        for entity in old.schema.entities {
            for property in entity.properties where property.isRelationship {
                owners[property.relationshipNumber, default: []].append(entity.index)
            }
        }
        self.owners = owners
    }

    /// The tables of the older version whose rows go to a table of the newer one, in alphabetical order.
    func sources(of table: String) -> [String] {
        Set(pairs.filter { $0.new.table == table }.map(\.old.table)).sorted()
    }

    /// The tables of the newer version that get rows of an older one's table.
    func destinations(of table: String) -> Set<String> {
        Set(pairs.filter { $0.old.table == table }.map(\.new.table))
    }

    func pairs(from table: String, to other: String) -> [EntityPair] {
        pairs.filter { $0.old.table == table && $0.new.table == other }
    }

    /// Makes the keys distinct in tables that become one table.
    ///
    /// - Parameter last: The largest key of each older table.
    mutating func separateKeys(_ last: [String: Int64]) {
        for table in newTables {
            var offset: Int64 = 0
            for source in sources(of: table) {
                offsets[TablePair(old: source, new: table)] = offset
                offset += last[source] ?? 0
            }
        }
    }

    /// The number added to the keys of an older table's rows in a newer table; 0 for the first of its sources.
    func offset(from table: String, to other: String) -> Int64 {
        offsets[TablePair(old: table, new: other)] ?? 0
    }

    /// The older entities whose objects have a relationship.
    func owners(of relationship: PropertySchema) -> [EntitySchema] {
        (owners[relationship.relationshipNumber] ?? []).map { old.entities[$0] }
    }

    /// The objects at one end of an older relationship that remain in the newer one.
    struct End {
        /// The table of the objects.
        let table: String
        /// The numbers of the older entities whose objects remain at the end, with the newer entities.
        let kept: [(number: Int64, new: EntitySchema)]
        /// Whether objects of other entities, which do not remain, can be there.
        let isPartial: Bool
    }

    /// - Parameters:
    ///   - entities: The older entities whose objects can be at the end.
    ///   - destination: The newer entity at that end.
    func end(_ entities: [EntitySchema], in destination: EntitySchema) -> End {
        var kept: [(Int64, EntitySchema)] = []
        var isPartial = false
        for entity in entities where !entity.isAbstract {
            if let pair = byOld[entity.index], destination.family.contains(pair.new.index) {
                kept.append((entity.number, pair.new))
            } else {
                isPartial = true
            }
        }
        return End(table: entities.first?.table ?? "", kept: kept, isPartial: isPartial)
    }

    /// Whether an older relationship can refer to objects of an older entity.
    func refers(_ relationship: PropertySchema, to entity: EntitySchema) -> Bool {
        old.entities[relationship.destination].family.contains(entity.index)
    }

    func family(of entity: EntitySchema) -> [EntitySchema] { entity.family.map { old.entities[$0] } }

    /// The older relationship that a newer one continues, for the objects of any entity that has it.
    func source(of relationship: PropertySchema, ownedBy entity: EntitySchema) -> PropertySchema? {
        let family = Set(entity.family)
        return pairs.lazy.filter { family.contains($0.new.index) }.compactMap { $0.source(of: relationship) }.first
    }
}
