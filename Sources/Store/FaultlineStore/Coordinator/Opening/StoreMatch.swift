import CSQLite
package import FaultlineModel
import Foundation

/// Matches an existing store against a model: finds the entity numbers, or the differences.
package struct StoreMatch {
    private let setup: StoreSetup
    private let model: ManagedObjectModel
    /// `nil` if the store has all entities of the model.
    private let configuration: StoreConfiguration?
    private let path: String
    private let metadata: [String: any Sendable]
    /// The remedy for a store of another version, besides opening it with its own.
    private let remedy: String

    package init(
        _ setup: StoreSetup, _ model: ManagedObjectModel, _ configuration: StoreConfiguration?, path: String,
        metadata: [String: any Sendable], remedy: String = "migrate it"
    ) {
        self.remedy = remedy
        self.configuration = configuration
        self.setup = setup
        self.model = model
        self.path = path
        self.metadata = metadata
    }

    /// Returns the model with the store's entity numbers.
    ///
    /// A Core Data store has no hash of this library, so it matches if it has every entity, table and column of the
    /// model, and no others.
    ///
    /// - Throws: ``StoreError`` if the store was created with another model.
    package func schema() throws(StoreError) -> ModelSchema {
        let (schema, differences) = try comparedTables()
        guard differences.isEmpty else { throw incompatible(differences) }
        return schema
    }

    /// Checks that the store was written with this version of the model, as far as its version hashes show it.
    ///
    /// Stores of Apple's framework have hashes that only Apple can compute; ``schema()`` compares their tables.
    ///
    /// - Throws: ``StoreError`` with the differences between the two versions.
    func checkVersion() throws(StoreError) {
        guard let differences = try versionDifferences() else { return }
        guard differences.isEmpty else {
            throw StoreError(
                .incompatibleModel,
                "The store '\(path)' was written with another version of the model; since then, \(Self.list(differences)); open it with the version that it was written with, or \(remedy)."
            )
        }
        // A store whose copy of its model is missing or wrong still has its tables.
        let found = try comparedTables().differences
        throw incompatible(found.isEmpty ? ["the version hashes of its entities differ"] : found)
    }

    /// Returns why the store does not match, or nothing if it does.
    func mismatch() throws(StoreError) -> String? {
        let differences = try versionDifferences()
        if let differences, !differences.isEmpty { return "since the store's version, \(Self.list(differences))" }
        let found = try comparedTables().differences
        if !found.isEmpty { return Self.list(found) }
        return differences == nil ? nil : "the version hashes of its entities differ"
    }

    /// Whether the store matches.
    package func fits() throws(StoreError) -> Bool { hasOtherHashes ? false : try comparedTables().differences.isEmpty }

    /// Whether the store has version hashes of this library, and others than the model's.
    private var hasOtherHashes: Bool {
        metadata[VersionKeys.layout] != nil && metadata[VersionKeys.hashes] is [String: Data]
            && !model.isConfiguration(withName: configuration?.name, compatibleWithStoreMetadata: metadata)
    }

    /// The changes since the store's version; `nil` if it has the same version, or version hashes that only Apple can compute.
    private func versionDifferences() throws(StoreError) -> [String]? {
        guard hasOtherHashes else { return nil }
        guard let kept = try setup.keptModel(configuration: configuration?.name) else { return [] }
        return model.differences(from: kept).filter {
            $0.requiresMigration && (isWanted($0.entity) || kept.entity(named: $0.entity) != nil)
        }.map(\.description)
    }

    /// The model with the store's entity numbers, and how the store's tables differ from it.
    private func comparedTables() throws(StoreError) -> (schema: ModelSchema, differences: [String]) {
        let numbers = try numbers()
        let schema = ModelSchema(model.entities, numbers: numbers.byEntity, storedColumns: try storedColumns())
        var differences = try differences(schema, numbers)
        if differences.isEmpty {
            let hash = metadata[VersionKeys.layout] as? String
            // The hash of a configuration does not depend on the entity numbers, which are the store's own.
            if hash != nil, hash != configuration?.hash ?? model.versionHash {
                differences = ["the layout of its entities differs"]
            }
        }
        return (schema, differences)
    }

    private func incompatible(_ differences: [String]) -> StoreError {
        StoreError(
            .incompatibleModel,
            "The store '\(path)' was created with another model: \(Self.list(differences)); open it with the model that it was created with, or \(remedy)."
        )
    }

    /// Lists the first 20 differences, and the number of the others.
    private static func list(_ differences: [String]) -> String {
        let shown = differences.prefix(20)
        let rest = differences.count - shown.count
        return shown.joined(separator: ", ") + (rest == 0 ? "" : ", and \(rest) more")
    }

    private struct Numbers {
        var byEntity: [String: Int64] = [:]
        /// The names of the entities in the store.
        var stored: Set<String> = []
    }

    private func numbers() throws(StoreError) -> Numbers {
        let rows = try setup.read("SELECT Z_ENT, Z_NAME FROM Z_PRIMARYKEY") { row in
            (sqlite3_column_text(row, 1).map { String(cString: $0) } ?? "", sqlite3_column_int64(row, 0))
        }
        var free = Dictionary(rows.filter { $0.1 < StoreSetup.firstOwnEntity }) { first, _ in first }
        let hashes = metadata["NSStoreModelVersionHashes"] as? [String: Data]
        var numbers = Numbers()
        numbers.stored = Set(hashes?.keys.map { $0 } ?? free.keys.map { $0 })
        for entity in model.entities { numbers.byEntity[entity.name] = free.removeValue(forKey: entity.name) }
        // After a Core Data migration, the number is stored under the entity's previous name.
        for entity in model.entities where numbers.byEntity[entity.name] == nil && numbers.stored.contains(entity.name)
        {
            numbers.byEntity[entity.name] = entity.renamingIdentifier.flatMap { free.removeValue(forKey: $0) }
        }
        // Entities outside the store get numbers that none of its entities has.
        var last = rows.map(\.1).max() ?? 0
        for entity in model.entities where numbers.byEntity[entity.name] == nil && !isWanted(entity.name) {
            last += 1
            numbers.byEntity[entity.name] = last
        }
        return numbers
    }

    /// The columns of the tables whose names begin as those of join tables, and of those that are partly known.
    private func storedColumns() throws(StoreError) -> [String: Set<String>] {
        // The model shows whether a store has any.
        let partlyKnown = model.schema.partlyKnownTables
        guard
            !partlyKnown.isEmpty
                || model.schema.entities.contains(where: { $0.properties.contains { $0.joinTable != nil } })
        else { return [:] }
        let members = partlyKnown.sorted().map { "'\($0)'" }.joined(separator: ", ")
        let query =
            "SELECT t.name, c.name FROM SQLITE_MASTER t, pragma_table_info(t.name) c WHERE t.type = 'table' AND (t.name GLOB 'Z_[0-9]*' OR t.name IN (\(members)))"
        let columns = try setup.read(query) { row in
            let text = { sqlite3_column_text(row, $0).map { String(cString: $0) } ?? "" }
            return (table: text(0), column: text(1))
        }
        return Dictionary(grouping: columns, by: \.table).mapValues { Set($0.map(\.column)) }
    }

    private func isWanted(_ entity: String) -> Bool { configuration?.entities.contains(entity) != false }

    // MARK: - Differences

    private func differences(_ schema: ModelSchema, _ numbers: Numbers) throws(StoreError) -> [String] {
        var found: [String] = []
        var tables = Tables(setup)
        var expected: [String: Set<String>] = [:]
        let wanted = schema.entities.filter { configuration?.tables.contains($0.table) != false }
        for entity in wanted {
            expected[entity.table, default: []].formUnion(entity.columns.map(\.name))
            for join in entity.properties.compactMap(\.joinTable) where join.isOfMembers {
                expected[join.table, default: []].insert(join.sourceColumn)
            }
            guard isWanted(entity.name) else { continue }
            guard numbers.stored.contains(entity.name), numbers.byEntity[entity.name] != nil else {
                found.append("the store lacks the entity '\(entity.name)'")
                continue
            }
            let columns = try tables.columns(entity.table)
            for property in entity.properties {
                let isInherited = entity.parent.map { schema.entities[$0].index(of: property.name) != nil } ?? false
                if isInherited || property.isTransient { continue }
                let name = "\(entity.name).\(property.name)"
                switch property.kind {
                case .attribute(let type):
                    found += Self.difference(name, type, columns[property.column])
                case .toOne:
                    let keys = [property.column] + (property.entityColumn.map { [$0] } ?? [])
                    if !keys.allSatisfy({ columns[$0] != nil }) { found.append("the store lacks '\(name)'") }
                case .toMany, .manyToMany:
                    found += try difference(name, property, entity, schema, &tables)
                }
            }
        }
        let own = Set(wanted.map(\.name))
        let part = configuration.map { "configuration '\($0.name)'" } ?? "model"
        found += numbers.stored.subtracting(own).sorted().map {
            "the store has an entity '\($0)' that the \(part) lacks"
        }
        let left = Set(StoreMetadata(metadata).deferredDrops.map(\.text))
        let unlocated = schema.unlocatedTables
        for (table, known) in expected.sorted(by: { $0.key < $1.key }) where !unlocated.contains(table) {
            // Columns that begin with Z_ are the store's own; order columns were checked with their relationships.
            let more = try tables.columns(table).keys.filter {
                !known.contains($0) && !$0.hasPrefix("Z_") && !left.contains("\(table).\($0)")
            }
            found += more.sorted().map {
                "the store's table \(table) has a column \($0) that the model lacks"
            }
        }
        return found
    }

    private static func difference(_ name: String, _ type: AttributeType, _ stored: String?) -> [String] {
        guard let stored else { return ["the store lacks '\(name)'"] }
        guard stored.uppercased() != type.columnType else { return [] }
        return ["its '\(name)' is \(stored), which cannot hold the model's \(type.rawValue)"]
    }

    private func difference(
        _ name: String, _ property: PropertySchema, _ entity: EntitySchema, _ schema: ModelSchema,
        _ tables: inout Tables
    ) throws(StoreError) -> [String] {
        var columns: [String: String]
        var wanted: [String] = []
        var order: String
        if let join = property.joinTable {
            columns = try tables.columns(join.table)
            wanted = [join.sourceColumn, join.destinationColumn]
            order = join.orderColumn
        } else {
            // Without an inverse, no column is known to belong to the relationship.
            guard let inverse = schema.inverse(of: property), !inverse.isTransient else { return [] }
            columns = try tables.columns(schema.entities[property.destination].table)
            order = "Z_FOK_" + inverse.column.dropFirst()
        }
        guard wanted.allSatisfy({ columns[$0] != nil }) else { return ["the store lacks '\(name)'"] }
        switch (columns[order] != nil, property.isOrdered) {
        case (true, false): return ["its '\(name)' is ordered, but the model's is not"]
        case (false, true): return ["its '\(name)' is unordered, but the model's is ordered"]
        default: return []
        }
    }

    /// The columns of the store's tables with their types, read once per table.
    private struct Tables {
        private let setup: StoreSetup
        private var known: [String: [String: String]] = [:]

        init(_ setup: StoreSetup) {
            self.setup = setup
        }

        mutating func columns(_ table: String) throws(StoreError) -> [String: String] {
            if let columns = known[table] { return columns }
            let rows = try setup.read("pragma table_info(\(table))") { row in
                let text = { sqlite3_column_text(row, $0).map { String(cString: $0) } ?? "" }
                return (text(1), text(2))
            }
            known[table] = Dictionary(rows) { first, _ in first }
            return known[table]!
        }
    }
}
