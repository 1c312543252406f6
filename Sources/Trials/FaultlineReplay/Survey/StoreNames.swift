import FaultlineModel

/// The program's names of tables and columns.
struct StoreNames {
    /// Whether the file is a Core Data store.
    let isCoreData: Bool
    /// The entities by their numbers (`Z_PRIMARYKEY`).
    private var numbers: [UInt64: String] = [:]
    private var entities: [String: String] = [:]
    private var properties: [Position: String] = [:]
    private var targets: [Position: String] = [:]
    /// The store's names of the model's fetch indexes, or `nil` without a model.
    private var fetchIndexes: Set<String>?

    private struct Position: Hashable {
        var table: String
        var column: String
    }

    init(_ file: DatabaseFile, _ model: ManagedObjectModel?) throws(ReplayError) {
        let count = try file.number(
            "SELECT count(*) FROM sqlite_schema WHERE name IN ('Z_PRIMARYKEY', 'Z_METADATA') AND type = 'table'")
        // Another program's tables can have these names.
        let keys = try file.rows("PRAGMA table_info(Z_PRIMARYKEY)").map { $0[1].text }
        isCoreData = count == 2 && Set(["Z_ENT", "Z_NAME"]).isSubset(of: keys)
        guard isCoreData else { return }
        for row in try file.rows("SELECT Z_ENT, Z_NAME FROM Z_PRIMARYKEY") {
            let name = row[1].text
            numbers[row[0].number] = name
            entities["Z" + name.uppercased()] = name
        }
        guard let model else { return }
        fetchIndexes = Set(model.entities.flatMap { entity in entity.indexes.map { $0.storeName(in: entity.name) } })
        let known = Dictionary(numbers.map { ($1, Int64(clamping: $0)) }) { first, _ in first }
        let schema = ModelSchema(model.entities, numbers: known)
        for entity in schema.entities {
            let root = schema.entities[entity.root]
            entities[root.table] = root.name
            for property in entity.properties where !property.column.isEmpty {
                let position = Position(table: entity.table, column: property.column)
                properties[position] = property.name
                if property.kind == .toOne { targets[position] = schema.entities[property.destination].table }
            }
        }
    }

    func entity(ofTable table: String) -> String? { entities[table] }
    func entity(number: UInt64) -> String { numbers[number] ?? "entity \(number)" }
    func property(ofColumn column: String, table: String) -> String? {
        properties[Position(table: table, column: column)]
    }
    func target(ofColumn column: String, table: String) -> String? { targets[Position(table: table, column: column)] }

    /// Whether a column belongs to Core Data itself: keys, entities, versions and orders.
    func isInternal(_ column: String) -> Bool {
        isCoreData && (column.hasPrefix("Z_") || column.dropFirst().first?.isNumber == true)
    }

    /// Whether the model has an index, or `nil` without a model.
    func belongsToModel(index: String) -> Bool? { fetchIndexes?.contains(index) }

    /// Whether the store creates an index itself: for a to-one relationship, an entity or a many-to-many relationship
    /// (`ZNOTE_ZOWNER_INDEX`).
    ///
    /// A model's fetch indexes are named differently (`Z_Note_byDate`).
    func belongsToStore(index: String, table: String) -> Bool {
        isCoreData && index.hasPrefix(table + "_") && index.hasSuffix("_INDEX")
    }
}
