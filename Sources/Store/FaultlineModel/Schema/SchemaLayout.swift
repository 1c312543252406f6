/// Computes the numbers, tables and columns of a model's entities; see `SchemaLayout+Names.swift` for the names of columns.
struct SchemaLayout {
    let descriptions: [EntityDescription]
    let positions: [String: Int]
    let numbers: [Int64]
    /// The columns of an existing store's tables whose names this library cannot always tell, by table.
    let storedColumns: [String: Set<String>]
    /// Whether this library determines the layout, rather than an existing store.
    private let isOwn: Bool
    private let parents: [Int?]
    let roots: [Int]
    private let children: [[Int]]
    /// The indices of each root's tree, by root.
    private let trees: [[Int]]
    /// Each entity's own attributes and relationships, sorted by name; of a composite one, the attributes that it consists of.
    var attributes: [[AttributeDescription]]
    let relationships: [[RelationshipDescription]]
    /// The composite attributes for which an existing store has no columns, such as `Person.home`.
    var unlocatedComposites: [String] = []
    /// The number of each entity's first relationship.
    private let firstNumbers: [Int]
    /// The indices of each entity's properties by name, including inherited ones.
    private var propertyIndexes: [[String: Int]] = []
    /// Column names, by entity and property.
    var columnNames: [ColumnID: String] = [:]
    /// The columns of join tables with an entity's keys, by entity and many-to-many relationship.
    var joinColumns: [ColumnID: String] = [:]
    /// The columns with the keys of owners in the rows of members, by entity and to-many relationship without an inverse.
    var ownerColumnNames: [ColumnID: String] = [:]
    /// The same columns by the entity of the members, each with the column that orders the members.
    var ownerColumnsByMember: [Int: [(key: String, order: String?)]] = [:]

    struct ColumnID: Hashable {
        var entity: String
        var property: String
    }

    init(_ given: [EntityDescription], numbers known: [String: Int64], storedColumns: [String: Set<String>] = [:]) {
        self.storedColumns = storedColumns
        // Entities follow their parent; siblings are in alphabetical order.
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
        let positions = Dictionary(uniqueKeysWithValues: ordered.enumerated().map { ($1.name, $0) })
        self.positions = positions
        isOwn = known.isEmpty
        numbers = ordered.enumerated().map { known[$1.name] ?? Int64($0 + 1) }
        attributes = ordered.map { Self.divided($0.attributes).sorted { $0.name < $1.name } }
        relationships = ordered.map { $0.relationships.sorted { $0.name < $1.name } }
        var firstNumbers: [Int] = []
        var children = [[Int]](repeating: [], count: ordered.count)
        var trees = children
        var parents: [Int?] = []
        var roots: [Int] = []
        var relationshipCount = 0
        // Parents come before their children.
        for (position, entity) in ordered.enumerated() {
            let parent = entity.parent.flatMap { positions[$0] }
            parents.append(parent)
            roots.append(parent.map { roots[$0] } ?? position)
            if let parent { children[parent].append(position) }
            trees[roots[position]].append(position)
            firstNumbers.append(relationshipCount)
            relationshipCount += entity.relationships.count
        }
        self.parents = parents
        self.roots = roots
        self.children = children
        self.trees = trees
        self.firstNumbers = firstNumbers
        for position in ordered.indices {
            var indexes = parents[position].map { propertyIndexes[$0] } ?? [:]
            for name in attributes[position].map(\.name) + relationships[position].map(\.name) {
                indexes[name] = indexes.count
            }
            propertyIndexes.append(indexes)
        }
        nameColumns()
        nameJoinColumns()
    }

    // MARK: - Entities

    func makeEntities() -> [EntitySchema] {
        var made: [EntitySchema] = []
        for (position, entity) in descriptions.enumerated() {
            let inherited = parents[position].map(lineage) ?? []
            var drafts: [(owner: Int, attribute: AttributeDescription?, relationship: RelationshipDescription?)] = []
            for owner in inherited + [position] {
                drafts += attributes[owner].map { (owner, $0, nil) }
                drafts += relationships[owner].map { (owner, nil, $0) }
            }
            let columns = columns(of: drafts)
            let slots = Slots(columns, count: drafts.count)
            let canonical = canonicalColumns(drafts.compactMap { draft in draft.attribute.map { (draft.owner, $0) } })
            let properties = drafts.enumerated().map { index, draft in
                if let attribute = draft.attribute {
                    return property(
                        attribute, owner: draft.owner, index: index, slots: slots,
                        canonicalColumn: canonical[attribute.name])
                }
                return property(draft.relationship!, owner: draft.owner, index: index, slots: slots)
            }
            made.append(
                EntitySchema(
                    name: entity.name, index: position, number: numbers[position], isAbstract: entity.isAbstract,
                    parent: parents[position], root: roots[position], family: family(position), table: table(position),
                    isInTree: !children[roots[position]].isEmpty, properties: properties, columns: columns,
                    declaredAt: entity.declaredAt, uniquenessConstraints: entity.uniquenessConstraints,
                    fetchedProperties: (inherited + [position]).flatMap { descriptions[$0].fetchedProperties }))
        }
        return made
    }

    /// The column with the text as `canonical:` computes it, by attribute.
    private func canonicalColumns(_ attributes: [(owner: Int, attribute: AttributeDescription)]) -> [String: String] {
        // Core Data's normalization need not match this library's for every character.
        guard isOwn else { return [:] }
        let texts = Set(attributes.filter { $0.attribute.type == .string }.map(\.attribute.name))
        var found: [String: String] = [:]
        for (owner, attribute) in attributes where attribute.type == .string && !attribute.isTransient {
            guard let text = attribute.derivationExpression,
                case .value(nil, let source, .canonical)? = DerivationExpression(text), texts.contains(source)
            else { continue }
            let column = column(owner, attribute.name)
            (found[source], found[attribute.name]) = (column, column)
        }
        return found
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
            } else if let relationship = draft.relationship, relationship.hasColumn {
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
        // Stable, which keeps a key before the column of its entity.
        return (attributes.sorted { $0.0 < $1.0 } + keys.sorted { $0.0 < $1.0 }).map(\.1)
    }

    private func property(
        _ attribute: AttributeDescription, owner: Int, index: Int, slots: Slots, canonicalColumn: String?
    ) -> PropertySchema {
        PropertySchema(
            name: attribute.name, index: index, kind: .attribute(attribute.type), isOptional: attribute.isOptional,
            isTransient: attribute.isTransient, derivation: attribute.derivationExpression,
            defaultValue: attribute.defaultValue, valueTransformerName: attribute.valueTransformerName,
            limits: ValueLimits(
                minimum: attribute.minimumValue, maximum: attribute.maximumValue,
                regularExpression: attribute.regularExpression
            ).orNone,
            isExternal: attribute.allowsExternalBinaryDataStorage, declaredAt: attribute.declaredAt,
            column: attribute.isTransient ? "" : column(owner, attribute.name), canonicalColumn: canonicalColumn,
            entityColumn: nil,
            slot: slots.columns[index], entitySlot: -1, destination: -1, inverse: nil, deleteRule: .noAction,
            joinTable: nil, isOrdered: false, orderColumn: nil, relationshipNumber: -1)
    }

    private func property(
        _ relationship: RelationshipDescription, owner: Int, index: Int, slots: Slots
    ) -> PropertySchema {
        let destination = positions[relationship.destination]!
        let inverse = inverse(of: relationship)
        let isManyToMany = isManyToMany(relationship)
        let join = isManyToMany ? joinTable(owner, relationship) : memberTable(owner, relationship)
        let isTransient =
            relationship.isTransient
            || relationship.isToMany && inverse?.isToMany == false && inverse?.isTransient == true
        let isOrdered = relationship.isToMany && relationship.isOrdered
        var orderColumn: String?
        if isOrdered, !isTransient {
            // Named after the key that it orders: Z_FOK_PARENT for ZPARENT, Z_FOK_2PAGES for Z_2PAGES.
            orderColumn =
                join.map(\.orderColumn)
                ?? inverse.flatMap { $0.hasColumn ? "Z_FOK_" + column(destination, $0.name).dropFirst() : nil }
        }
        return PropertySchema(
            name: relationship.name, index: index,
            kind: !relationship.isToMany ? .toOne : join != nil ? .manyToMany : .toMany,
            isOptional: relationship.isOptional, isTransient: isTransient, derivation: nil,
            defaultValue: nil,
            valueTransformerName: nil,
            limits: ValueLimits(
                minimumCount: relationship.isToMany ? relationship.minimumCount : 0,
                maximumCount: relationship.isToMany ? relationship.maximumCount : 0
            ).orNone,
            isExternal: false, declaredAt: relationship.declaredAt,
            column: relationship.hasColumn ? column(owner, relationship.name) : "",
            entityColumn: relationship.hasColumn ? entityColumn(owner, relationship) : nil,
            slot: slots.columns[index], entitySlot: slots.entityColumns[index], destination: destination,
            inverse: relationship.inverse.flatMap { propertyIndexes[destination][$0] },
            deleteRule: relationship.deleteRule, joinTable: join, isOrdered: isOrdered, orderColumn: orderColumn,
            relationshipNumber: relationshipNumber(owner, relationship.name))
    }

    /// The indices of each property's columns, or -1.
    private struct Slots {
        var columns: [Int]
        var entityColumns: [Int]

        init(_ given: [ColumnSchema], count: Int) {
            columns = Array(repeating: -1, count: count)
            entityColumns = columns
            for (slot, column) in given.enumerated() {
                if column.isEntityColumn {
                    entityColumns[column.property] = slot
                } else {
                    columns[column.property] = slot
                }
            }
        }
    }

    // MARK: - Parts

    func lineage(_ position: Int) -> [Int] {
        (parents[position].map(lineage) ?? []) + [position]
    }

    private func family(_ position: Int) -> [Int] {
        [position] + children[position].flatMap(family)
    }

    func table(_ position: Int) -> String {
        "Z" + descriptions[roots[position]].name.uppercased()
    }

    func column(_ owner: Int, _ property: String) -> String {
        columnNames[ColumnID(entity: descriptions[owner].name, property: property)]!
    }

    func inverse(of relationship: RelationshipDescription) -> RelationshipDescription? {
        guard let name = relationship.inverse, let position = positions[relationship.destination],
            let index = propertyIndexes[position][name]
        else { return nil }
        // The model was validated: the inverse belongs to the destination itself and is not inherited.
        let inherited = parents[position].map { propertyIndexes[$0].count } ?? 0
        return relationships[position][index - inherited - attributes[position].count]
    }

    /// The column for the entity that a key belongs to, if the destination has subentities.
    func entityColumn(_ owner: Int, _ relationship: RelationshipDescription) -> String? {
        let destination = positions[relationship.destination]!
        guard !children[destination].isEmpty else { return nil }
        return "Z\(numbers[destination])_" + column(owner, relationship.name).dropFirst()
    }

    private func relationshipNumber(_ owner: Int, _ name: String) -> Int {
        let inherited = parents[owner].map { propertyIndexes[$0].count } ?? 0
        return firstNumbers[owner] + propertyIndexes[owner][name]! - inherited - attributes[owner].count
    }

    /// The table of a to-many relationship without an inverse; `nil` for other relationships, and if a store has no column for it.
    func memberTable(_ owner: Int, _ relationship: RelationshipDescription) -> JoinTableSchema? {
        guard relationship.hasOwnerColumn, let destination = positions[relationship.destination],
            let column = ownerColumnNames[ColumnID(entity: descriptions[owner].name, property: relationship.name)]
        else { return nil }
        return JoinTableSchema(
            table: table(destination), sourceColumn: column, destinationColumn: "Z_PK", isOfMembers: true)
    }

    /// The column of a join table with an entity's keys.
    ///
    /// An existing store can have numbered its columns otherwise, or not at all.
    ///
    /// - Parameter base: The name without a number.
    private func joinColumn(_ entity: String, _ relationship: String, _ base: String, _ table: String) -> String {
        let column = joinColumns[ColumnID(entity: entity, property: relationship)] ?? base
        guard let stored = storedColumns[table], !stored.contains(column) else { return column }
        let numbered = stored.filter { $0.hasPrefix(base) && $0.dropFirst(base.count).allSatisfy(\.isNumber) }
        return numbered.min() ?? column
    }

    /// Whether a join table stores the relationship.
    func isManyToMany(_ relationship: RelationshipDescription) -> Bool {
        relationship.isToMany && !relationship.isTransient && inverse(of: relationship)?.isToMany == true
    }

    /// Returns the join table of a many-to-many relationship.
    ///
    /// The table is named for the side with the lower number, or, within one entity, for the name that comes first; but for the
    /// other side if an existing store has it under that name.
    private func joinTable(_ owner: Int, _ relationship: RelationshipDescription) -> JoinTableSchema {
        let inverse = inverse(of: relationship)!
        let destination = positions[relationship.destination]!
        let isFirst = (numbers[owner], relationship.name) <= (numbers[destination], inverse.name)
        let name = relationship.name.uppercased()
        let inverseName = inverse.name.uppercased()
        let isReflexive = owner == destination && relationship.name == inverse.name
        let (own, other) = ("Z_\(numbers[owner])\(name)", "Z_\(numbers[destination])\(inverseName)")
        let (usual, unusual) = isFirst ? (own, other) : (other, own)
        let table = storedColumns[usual] == nil && storedColumns[unusual] != nil ? unusual : usual
        let source = joinColumn(descriptions[owner].name, relationship.name, "Z_\(numbers[owner])\(inverseName)", table)
        return JoinTableSchema(
            table: table, sourceColumn: source,
            destinationColumn: isReflexive
                ? "REFLEXIVE"
                : joinColumn(relationship.destination, inverse.name, "Z_\(numbers[destination])\(name)", table),
            isOfMembers: false)
    }
}

extension SchemaLayout {
    var entityDescriptions: [EntityDescription] { descriptions }
    var rootIndexes: [Int] { descriptions.indices.filter { parents[$0] == nil } }
    func isTree(_ root: Int) -> Bool { !children[root].isEmpty }
    func tree(_ root: Int) -> [Int] { trees[root] }

    /// The columns in an entity's rows for the owners in to-many relationships to it without an inverse, each with the column that
    /// orders the members.
    func ownerColumns(_ position: Int) -> [(key: String, order: String?)] { ownerColumnsByMember[position] ?? [] }

    /// The columns in an entity's rows that order the inverses of its to-one relationships, by name.
    func orderColumns(_ position: Int) -> [String] {
        relationships[position]
            .filter { relationship in
                relationship.hasColumn && inverse(of: relationship).map { $0.isOrdered && !$0.isTransient } == true
            }.map { "Z_FOK_" + column(position, $0.name).dropFirst() }
    }
}

extension RelationshipDescription {
    /// Whether the rows of the entity have the key of the destination.
    ///
    /// Core Data stores nothing for a transient relationship.
    var hasColumn: Bool { !isToMany && !isTransient }

    /// Whether the rows of the destination have the key of the owner, although the destination has no relationship to it.
    var hasOwnerColumn: Bool { isToMany && inverse == nil && !isTransient }
}

extension AttributeType {
    var storage: ColumnSchema.Storage {
        switch self {
        case .integer16, .integer32, .integer64, .boolean: .integer
        case .double, .float, .date: .real
        case .decimal: .decimal
        case .string, .uri: .text
        case .binary, .uuid, .transformable, .undefined, .composite: .blob
        }
    }
}
