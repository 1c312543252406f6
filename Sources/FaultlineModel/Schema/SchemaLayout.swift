/// Works out numbers, tables and columns.
struct SchemaLayout {
    private let descriptions: [EntityDescription]
    let places: [String: Int]
    private let numbers: [Int64]
    private let parents: [Int]
    private let roots: [Int]
    private let children: [[Int]]
    /// Column names of every tree, by root and by (entity, property).
    private var columnNames: [ColumnID: String] = [:]

    private struct ColumnID: Hashable {
        var entity: String
        var property: String
    }

    init(_ given: [EntityDescription], numbers known: [String: Int64]) {
        // Children follow their parent; siblings are in alphabetical order.
        var childNames: [String: [EntityDescription]] = [:]
        for entity in given { childNames[entity.parent ?? "", default: []].append(entity) }
        var ordered: [EntityDescription] = []
        func visit(_ parent: String) {
            for entity in (childNames[parent] ?? []).sorted(by: { $0.name < $1.name }) {
                ordered.append(entity)
                visit(entity.name)
            }
        }
        visit("")
        descriptions = ordered
        let places = Dictionary(uniqueKeysWithValues: ordered.enumerated().map { ($1.name, $0) })
        self.places = places
        numbers = ordered.enumerated().map { known[$1.name] ?? Int64($0 + 1) }
        let parents = ordered.map { $0.parent.flatMap { places[$0] } ?? -1 }
        self.parents = parents
        roots = ordered.indices.map { place in
            var root = place
            while parents[root] >= 0 { root = parents[root] }
            return root
        }
        children = ordered.indices.map { place in ordered.indices.filter { parents[$0] == place } }
        nameColumns()
    }

    /// `Z` and the property's name in capitals; a name that is taken in the table gets a number.
    private mutating func nameColumns() {
        var taken: [Int: Set<String>] = [:]
        for (place, entity) in descriptions.enumerated() {
            let names =
                entity.attributes.filter { !$0.isTransient }.map(\.name).sorted()
                + entity.relationships.filter { !$0.isToMany }.map(\.name).sorted()
            for name in names {
                let base = "Z" + name.uppercased()
                var column = base
                var count = 0
                while !taken[roots[place], default: ["Z_PK", "Z_ENT", "Z_OPT"]].insert(column).inserted {
                    count += 1
                    column = base + String(count)
                }
                columnNames[ColumnID(entity: entity.name, property: name)] = column
            }
        }
    }

    // MARK: Entities

    func makeEntities() -> [EntitySchema] {
        var made: [EntitySchema] = []
        for (place, entity) in descriptions.enumerated() {
            let inherited = parents[place] >= 0 ? lineage(parents[place]) : []
            var drafts: [(owner: Int, attribute: AttributeDescription?, relationship: RelationshipDescription?)] = []
            for owner in inherited + [place] {
                drafts += descriptions[owner].attributes.sorted { $0.name < $1.name }.map { (owner, $0, nil) }
                drafts += descriptions[owner].relationships.sorted { $0.name < $1.name }.map { (owner, nil, $0) }
            }
            let columns = columns(of: drafts)
            let properties = drafts.enumerated().map { index, draft in
                if let attribute = draft.attribute {
                    return property(attribute, owner: draft.owner, index: index, columns: columns)
                }
                return property(draft.relationship!, owner: draft.owner, index: index, columns: columns)
            }
            made.append(
                EntitySchema(
                    name: entity.name, index: place, number: numbers[place], isAbstract: entity.isAbstract,
                    parent: parents[place], root: roots[place], family: family(place), table: table(place),
                    isInTree: !children[roots[place]].isEmpty, properties: properties, columns: columns,
                    declaredAt: entity.declaredAt))
        }
        return made
    }

    private func columns(
        of drafts: [(owner: Int, attribute: AttributeDescription?, relationship: RelationshipDescription?)]
    ) -> [ColumnSchema] {
        var attributes: [(String, ColumnSchema)] = []
        var keys: [(String, ColumnSchema)] = []
        for (index, draft) in drafts.enumerated() {
            if let attribute = draft.attribute, !attribute.isTransient {
                let column = column(draft.owner, attribute.name)
                attributes.append(
                    (
                        attribute.name,
                        ColumnSchema(
                            name: column, storage: attribute.type.storage, property: index, isEntityColumn: false)
                    ))
            } else if let relationship = draft.relationship, !relationship.isToMany {
                let column = column(draft.owner, relationship.name)
                keys.append(
                    (
                        relationship.name,
                        ColumnSchema(name: column, storage: .integer, property: index, isEntityColumn: false)
                    ))
                if let entityColumn = entityColumn(draft.owner, relationship) {
                    keys.append(
                        (
                            relationship.name,
                            ColumnSchema(name: entityColumn, storage: .integer, property: index, isEntityColumn: true)
                        ))
                }
            }
        }
        // Stable, so that a key stays before the column of its entity.
        return (attributes.sorted { $0.0 < $1.0 } + keys.sorted { $0.0 < $1.0 }).map(\.1)
    }

    private func property(
        _ attribute: AttributeDescription, owner: Int, index: Int, columns: [ColumnSchema]
    ) -> PropertySchema {
        PropertySchema(
            name: attribute.name, index: index, kind: .attribute(attribute.type), isOptional: attribute.isOptional,
            isTransient: attribute.isTransient, defaultValue: attribute.defaultValue,
            isExternal: attribute.allowsExternalBinaryDataStorage, declaredAt: attribute.declaredAt,
            column: attribute.isTransient ? "" : column(owner, attribute.name), entityColumn: nil,
            slot: columns.firstIndex { $0.property == index } ?? -1, entitySlot: -1, destination: -1, inverse: -1,
            deleteRule: .noAction, joinTable: nil, relationshipNumber: -1)
    }

    private func property(
        _ relationship: RelationshipDescription, owner: Int, index: Int, columns: [ColumnSchema]
    ) -> PropertySchema {
        let destination = places[relationship.destination]!
        let isManyToMany = relationship.isToMany && inverse(of: relationship)?.isToMany == true
        return PropertySchema(
            name: relationship.name, index: index,
            kind: !relationship.isToMany ? .toOne : isManyToMany ? .manyToMany : .toMany,
            isOptional: relationship.isOptional, isTransient: false, defaultValue: nil, isExternal: false,
            declaredAt: relationship.declaredAt,
            column: relationship.isToMany ? "" : column(owner, relationship.name),
            entityColumn: relationship.isToMany ? nil : entityColumn(owner, relationship),
            slot: columns.firstIndex { $0.property == index && !$0.isEntityColumn } ?? -1,
            entitySlot: columns.firstIndex { $0.property == index && $0.isEntityColumn } ?? -1,
            destination: destination, inverse: relationship.inverse.map { propertyIndex(destination, $0) } ?? -1,
            deleteRule: relationship.deleteRule,
            joinTable: isManyToMany ? joinTable(owner, relationship) : nil,
            relationshipNumber: relationshipNumber(owner, relationship.name))
    }

    // MARK: Parts

    func lineage(_ place: Int) -> [Int] {
        (parents[place] >= 0 ? lineage(parents[place]) : []) + [place]
    }

    private func family(_ place: Int) -> [Int] {
        [place] + children[place].flatMap(family)
    }

    func table(_ place: Int) -> String {
        "Z" + descriptions[roots[place]].name.uppercased()
    }

    func column(_ owner: Int, _ property: String) -> String {
        columnNames[ColumnID(entity: descriptions[owner].name, property: property)]!
    }

    private func inverse(of relationship: RelationshipDescription) -> RelationshipDescription? {
        relationship.inverse.flatMap { name in
            descriptions[places[relationship.destination]!].relationships.first { $0.name == name }
        }
    }

    /// A column of its own says which entity a key belongs to where the destination has children.
    func entityColumn(_ owner: Int, _ relationship: RelationshipDescription) -> String? {
        let destination = places[relationship.destination]!
        guard !children[destination].isEmpty else { return nil }
        return "Z\(numbers[destination])_" + column(owner, relationship.name).dropFirst()
    }

    private func propertyIndex(_ place: Int, _ name: String) -> Int {
        var index = 0
        for owner in lineage(place) {
            for attribute in descriptions[owner].attributes.map(\.name).sorted() {
                if attribute == name { return index }
                index += 1
            }
            for relationship in descriptions[owner].relationships.map(\.name).sorted() {
                if relationship == name { return index }
                index += 1
            }
        }
        return -1
    }

    private func relationshipNumber(_ owner: Int, _ name: String) -> Int {
        let before = descriptions[..<owner].reduce(0) { $0 + $1.relationships.count }
        return before + descriptions[owner].relationships.map(\.name).sorted().firstIndex(of: name)!
    }

    /// The table is named for the side with the lower number (in a relation of an entity with itself: for the name
    /// that comes first), each column for the entity whose keys it holds and the relationship that leads to it.
    private func joinTable(_ owner: Int, _ relationship: RelationshipDescription) -> JoinTableSchema {
        let inverse = inverse(of: relationship)!
        let destination = places[relationship.destination]!
        let isOwn = (numbers[owner], relationship.name) <= (numbers[destination], inverse.name)
        let name = relationship.name.uppercased()
        let inverseName = inverse.name.uppercased()
        let isReflexive = owner == destination && relationship.name == inverse.name
        return JoinTableSchema(
            table: isOwn ? "Z_\(numbers[owner])\(name)" : "Z_\(numbers[destination])\(inverseName)",
            sourceColumn: "Z_\(numbers[owner])\(inverseName)",
            destinationColumn: isReflexive ? "REFLEXIVE" : "Z_\(numbers[destination])\(name)")
    }
}

extension SchemaLayout {
    var entityDescriptions: [EntityDescription] { descriptions }
    var rootPlaces: [Int] { descriptions.indices.filter { parents[$0] < 0 } }
    func isTree(_ root: Int) -> Bool { !children[root].isEmpty }
    func tree(_ root: Int) -> [Int] { descriptions.indices.filter { roots[$0] == root } }
}

extension AttributeType {
    var storage: ColumnSchema.Storage {
        switch self {
        case .integer16, .integer32, .integer64, .boolean: .integer
        case .double, .float, .date: .real
        case .decimal: .decimal
        case .string, .uri: .text
        case .binary, .uuid, .transformable, .undefined: .blob
        }
    }
}
