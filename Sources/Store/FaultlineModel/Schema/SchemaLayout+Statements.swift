extension SchemaLayout {
    /// The `CREATE` statements: all tables, then all indexes, each with the table of the entities that need it.
    func statements(_ entities: [EntitySchema]) -> [(table: String, text: String)] {
        var tables: [(String, String)] = []
        var indexes: [(String, String)] = []
        var joinTables: Set<String> = []
        for root in rootIndexes {
            let columns = tableColumns(root).map { "\($0.name) \($0.type)" }
            let table = table(root)
            tables.append(
                (
                    table,
                    "CREATE TABLE \(table) ( "
                        + (["Z_PK INTEGER PRIMARY KEY", "Z_ENT INTEGER", "Z_OPT INTEGER"] + columns)
                        .joined(separator: ", ") + " )"
                ))
            for position in tree(root) {
                for key in foreignKeys(position) + ownerColumns(position).map(\.key) {
                    indexes.append((table, "CREATE INDEX \(table)_\(key)_INDEX ON \(table) (\(key))"))
                }
            }
            if isTree(root) { indexes.append((table, "CREATE INDEX \(table)_Z_ENT_INDEX ON \(table) (Z_ENT)")) }
            for position in tree(root) {
                let more = fetchIndexes(entities[position]) + uniqueIndexes(entities[position])
                indexes += more.map { (table, $0) }
            }
        }
        for entity in entities {
            for property in entity.properties {
                guard let join = property.joinTable, let inverse = property.inverse,
                    joinTables.insert(join.table).inserted
                else { continue }
                // The side that the table is named for comes first, whichever side is visited first.
                let other = entities[property.destination].properties[inverse]
                let isOwn =
                    join.table.hasSuffix(property.name.uppercased()) && join.table.hasPrefix("Z_\(entity.number)")
                let side = isOwn ? join : other.joinTable ?? join
                let (first, second) = (side.sourceColumn, side.destinationColumn)
                // If a relationship is its own inverse, both sides are the same.
                var orders: [String] = []
                for order in [other, property].compactMap(\.orderColumn) where !orders.contains(order) {
                    orders.append(order)
                }
                let columns = [first, second] + orders.sorted()
                tables.append(
                    (
                        entity.table,
                        "CREATE TABLE \(join.table) ( \(columns.map { "\($0) INTEGER, " }.joined())PRIMARY KEY (\(first), \(second)) )"
                    ))
                indexes.append(
                    (
                        entity.table,
                        "CREATE INDEX \(join.table)_\(second)_INDEX ON \(join.table) (\(second), \(first))"
                    ))
            }
        }
        return tables + indexes
    }

    /// The columns of a tree's table after the first three.
    ///
    /// They are grouped by type; within a group by entity, parents before children; within an entity by name, with
    /// foreign keys after the integers.
    private func tableColumns(_ root: Int) -> [(name: String, type: String)] {
        var columns: [(group: Int, position: Int, kind: Int, name: String, type: String)] = []
        for position in tree(root) {
            let entity = entityDescriptions[position]
            for attribute in attributes[position] where !attribute.isTransient {
                columns.append(
                    (
                        attribute.type.columnGroup, position, 0, column(position, attribute.name),
                        attribute.type.columnType
                    ))
            }
            for relationship in entity.relationships.sorted(by: { $0.name < $1.name }) where relationship.hasColumn {
                columns.append((0, position, 1, column(position, relationship.name), "INTEGER"))
                if let entityColumn = entityColumn(position, relationship) {
                    columns.append((0, position, 1, entityColumn, "INTEGER"))
                }
            }
            for (key, order) in ownerColumns(position) {
                columns.append((0, position, 1, key, "INTEGER"))
                if let order { columns.append((0, position, 2, order, "INTEGER")) }
            }
            for column in orderColumns(position) { columns.append((0, position, 2, column, "INTEGER")) }
        }
        let order = columns.indices.sorted {
            (columns[$0].group, columns[$0].position, columns[$0].kind, $0)
                < (columns[$1].group, columns[$1].position, columns[$1].kind, $1)
        }
        return order.map { (columns[$0].name, columns[$0].type) }
    }

    private func foreignKeys(_ position: Int) -> [String] {
        entityDescriptions[position].relationships.filter(\.hasColumn).map(\.name).sorted().map {
            column(position, $0)
        }
    }

    private func fetchIndexes(_ entity: EntitySchema) -> [String] {
        entityDescriptions[entity.index].indexes.filter(\.isSupported).map { index in
            let elements = index.elements.map { element in
                let column = entity.property(element.property)!.column
                return "\(column) COLLATE BINARY \(element.isAscending ? "ASC" : "DESC")"
            }
            return
                "CREATE INDEX \(index.storeName(in: entity.name)) ON \(entity.table) (\(elements.joined(separator: ", ")))"
        }
    }

    private func uniqueIndexes(_ entity: EntitySchema) -> [String] {
        entity.uniquenessConstraints.map { constraint in
            let properties = constraint.map { entity.properties[$0] }
            let name = properties.map(\.name).joined(separator: "_")
            let columns = properties.map { "\($0.column) COLLATE BINARY ASC" }.joined(separator: ", ")
            return "CREATE UNIQUE INDEX Z_\(entity.name)_UNIQUE_\(name) ON \(entity.table) (\(columns))"
        }
    }

    /// A digest of the layout: FNV-1a over entities, numbers and `CREATE TABLE` statements.
    func digest(_ entities: [EntitySchema]) -> String {
        var digest = LayoutDigest()
        for entity in entities {
            digest.add("\(entity.number) \(entity.name) \(entity.parent ?? -1) \(entity.isAbstract)")
            for property in entity.properties where !property.isTransient {
                digest.add(
                    "\(property.name) \(property.kind) \(property.column) \(property.destination) \(property.isExternal)"
                )
                // The expressions determine a store's triggers.
                if let derivation = property.derivation { digest.add(derivation) }
            }
        }
        // Fetch indexes affect the speed of a store, not its contents.
        for (_, text) in statements(entities) where text.hasPrefix("CREATE TABLE") { digest.add(text) }
        return digest.text
    }
}
