import FaultlineMigration
import FaultlineModel
import FaultlineStore
import Foundation
import Testing

/// Does what a mapping says, object by object; without a policy, SQL would do the same in place.
final class CopyingPolicy: EntityMigrationPolicy {}

/// A store of an older version of a model, in a folder of its own, which is opened with a newer version.
struct MigratedStore {
    let url: URL

    /// Creates a store of a version and fills it with SQL statements.
    ///
    /// - Parameter triggers: Whether the statements run the triggers of derived attributes.
    init(
        _ entities: [EntityDescription], _ rows: String = "", triggers: Bool = true,
        configure: (URL) throws -> Void = { _ in }
    ) throws {
        url = try TestStore.makeFolder().appendingPathComponent("Store.sqlite")
        let model = try ManagedObjectModel(entities: entities)
        _ = try PersistentContainer(name: "Old", managedObjectModel: model, storeURL: url)
        if !triggers {
            for name in try SQLShell.run("SELECT name FROM sqlite_master WHERE type = 'trigger'", url) {
                try SQLShell.run("DROP TRIGGER \"\(name)\"", url)
            }
        }
        try configure(url)
        try SQLShell.run(rows, url)
        for entity in model.entities where entity.parent == nil {
            let table = "Z\(entity.name.uppercased())"
            try SQLShell.run(
                "UPDATE Z_PRIMARYKEY SET Z_MAX = (SELECT IFNULL(MAX(Z_PK), 0) FROM \(table)) WHERE Z_NAME = '\(entity.name)'",
                url)
        }
    }

    init(url: URL) {
        self.url = url
    }

    /// Opens the store with a newer version, and compares its structure with that of a new store.
    @discardableResult
    func migrate(
        _ entities: [EntityDescription], _ change: (inout PersistentStoreDescription) -> Void = { _ in }
    ) throws -> PersistentContainer {
        try migrate(to: try ManagedObjectModel(entities: entities), change)
    }

    @discardableResult
    func migrate(
        to model: ManagedObjectModel, _ change: (inout PersistentStoreDescription) -> Void = { _ in }
    ) throws -> PersistentContainer {
        var description = PersistentStoreDescription(url: url)
        // Many tests go to a version and back.
        description.allowsEarlierVersions = true
        change(&description)
        let container = try PersistentContainer(name: "New", managedObjectModel: model, storeDescription: description)
        try checkStructure(of: model)
        try checkKeys(of: model)
        return container
    }

    /// The error of opening the store with a newer version; the store's bytes must not change.
    func refusal(
        _ entities: [EntityDescription], _ change: (inout PersistentStoreDescription) -> Void = { _ in }
    ) throws -> String {
        let before = try dump()
        let text = performing { try migrate(entities, change) }
        #expect(try dump() == before)
        #expect(text.contains("'\(url.path)'"))
        return text.replacing("'\(url.path)'", with: "STORE")
    }

    @discardableResult
    func rows(_ query: String) throws -> [String] { try SQLShell.run(query, url) }

    /// All tables with all rows.
    func dump() throws -> [String] {
        let tables = try rows("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY 1")
        return try rows("SELECT type, name, sql FROM sqlite_master ORDER BY 1, 2")
            + tables.flatMap { try rows("SELECT * FROM \"\($0)\" ORDER BY 1") }
    }

    // MARK: - Checks

    /// Checks that tables, columns, indexes, triggers and entities are those of a new store.
    func checkStructure(of model: ManagedObjectModel) throws {
        let fresh = try TestStore.makeFolder().appendingPathComponent("Fresh.sqlite")
        _ = try PersistentContainer(name: "Fresh", managedObjectModel: model, storeURL: fresh)
        for query in [
            "SELECT m.name, c.name, upper(c.type) FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.type = 'table' AND m.name NOT IN ('ACHANGE', 'ATRANSACTION', 'ATRANSACTIONSTRING') ORDER BY 1, 2",
            "SELECT DISTINCT tbl_name, l.\"unique\", (SELECT group_concat(x.name || x.\"desc\") FROM pragma_index_xinfo(m.name) x WHERE x.key) FROM sqlite_master m, pragma_index_list(m.tbl_name) l ON l.name = m.name WHERE m.type = 'index' AND m.tbl_name LIKE 'Z%' ORDER BY 1, 2, 3",
            "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' ORDER BY 1",
            "SELECT Z_ENT, Z_NAME, Z_SUPER FROM Z_PRIMARYKEY WHERE Z_ENT < 16000 ORDER BY 1",
            "SELECT Z_MODEL, Z_CONFIGURATION FROM Z_FAULTLINE",
        ] {
            let (found, expected) = (try rows(query), try SQLShell.run(query, fresh))
            #expect(found.filter { !expected.contains($0) } == [], "\(query)")
            #expect(expected.filter { !found.contains($0) } == [], "\(query)")
        }
        #expect(try rows("PRAGMA integrity_check") == ["ok"])
        #expect(try rows("SELECT name FROM sqlite_master WHERE name LIKE 'Z_FAULTLINE_%'") == [])
    }

    /// Checks that each key of a relationship refers to an object of its destination.
    func checkKeys(of model: ManagedObjectModel) throws {
        let schema = model.schema
        for entity in schema.entities {
            for property in entity.properties where property.kind == .toOne {
                let destination = schema.entities[property.destination]
                let numbers = destination.family.map { String(schema.entities[$0].number) }.joined(separator: ", ")
                let number = property.entityColumn.map { "AND d.Z_ENT = s.\($0)" } ?? ""
                #expect(
                    try rows(
                        "SELECT s.Z_PK FROM \(entity.table) s WHERE s.\(property.column) IS NOT NULL AND NOT EXISTS (SELECT 1 FROM \(destination.table) d WHERE d.Z_PK = s.\(property.column) AND d.Z_ENT IN (\(numbers)) \(number))"
                    ) == [], "\(entity.name).\(property.name)")
            }
            for property in entity.properties {
                guard let join = property.joinTable else { continue }
                #expect(
                    try rows(
                        "SELECT \(join.sourceColumn) FROM \(join.table) WHERE \(join.sourceColumn) NOT IN (SELECT Z_PK FROM \(entity.family.isEmpty ? "" : schema.entities[entity.root].table))"
                    ) == [])
            }
            let last = try rows(
                "SELECT (SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = \(schema.entities[entity.root].number)) >= (SELECT IFNULL(MAX(Z_PK), 0) FROM \(entity.table))"
            )
            #expect(last == ["1"])
        }
    }
}
