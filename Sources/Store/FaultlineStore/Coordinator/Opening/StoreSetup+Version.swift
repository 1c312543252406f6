import CSQLite
package import FaultlineModel
import Foundation

/// The version that a store's file records: the numbers of the entities, the metadata, and a copy of the model.
extension StoreSetup {
    /// Numbers from this one are those of Core Data's own entities, for history and the like.
    package static let firstOwnEntity: Int64 = 16000

    /// Writes the numbers of a version's entities.
    ///
    /// - Parameter last: The last key of each tree, by its root's index; 0 where it is missing.
    package func number(_ version: StoreVersion, last: [Int: Int64], doing: String) throws(StoreError) {
        for entity in version.storedEntities {
            let parent = entity.parent.map { version.schema.entities[$0].number } ?? 0
            try session.run(
                "INSERT INTO Z_PRIMARYKEY(Z_ENT, Z_NAME, Z_SUPER, Z_MAX) VALUES(?, ?, ?, ?)",
                [.integer(entity.number), .text(entity.name), .integer(parent), .integer(last[entity.index] ?? 0)],
                doing: doing, isTimed: false)
        }
    }

    /// Writes the model into the store, for tools that only have the file.
    ///
    /// Core Data's own copy has a different format.
    func keepModel(
        _ model: ManagedObjectModel, configuration: String?, doing: String
    ) throws(StoreError) {
        // Some models cannot be encoded as text; their stores lack the copy.
        guard let text = try? model.contents() else { return }
        try session.run(
            "CREATE TABLE \(PersistentStore.modelTable) (Z_MODEL VARCHAR, Z_CONFIGURATION VARCHAR)", doing: doing,
            isTimed: false)
        try session.run(
            "INSERT INTO \(PersistentStore.modelTable) (Z_MODEL, Z_CONFIGURATION) VALUES (?, ?)",
            [.text(text), .text(configuration ?? "")], doing: doing, isTimed: false)
    }

    /// The metadata that a new store of a version has.
    func metadata(of version: StoreVersion, _ type: PersistentStore.StoreType) -> [String: Any] {
        let hashes = version.model.entityVersionHashesByName.filter { version.has($0.key) }
        return [
            PersistentStore.typeKey: type.rawValue,
            VersionKeys.hashes: hashes, VersionKeys.hashesVersion: VersionKeys.currentHashesVersion,
            VersionKeys.checksum: ManagedObjectModel.checksum(of: hashes),
            VersionKeys.identifiers: version.model.versionIdentifiers,
            "NSPersistenceFrameworkVersion": 0,
            "_NSAutoVacuumLevel": "2",
            VersionKeys.layout: version.configuration?.hash ?? version.model.versionHash,
            VersionKeys.indexes: version.model.schema.indexDigest(forTables: version.tables),
        ]
    }

    /// Writes the metadata and the copy of the model that a store of a version has, in place of the older ones.
    ///
    /// The program's metadata, and what this library does not know, stay as they are.
    ///
    /// - Parameters:
    ///   - earlier: The checksums of the versions that the store had before, the last one at the end.
    ///   - pendingStage: The checksum of the version, if its stage has work left to do.
    ///   - deferred: The columns and tables to remove later.
    package func replaceVersion(
        _ version: StoreVersion, earlier: [String], pendingStage: String? = nil, deferred: [DeferredDrop] = [],
        type: PersistentStore.StoreType
    ) throws(StoreError) {
        let checksum = version.model.versionChecksum
        try changeMetadata { list in
            list.setDeferredDrops(deferred)
            // After a step back, the versions that came later are not earlier ones.
            list[VersionKeys.earlier] = Array(earlier.prefix { $0 != checksum })
            // A store that Core Data created can have contents that this library does not maintain.
            if list[VersionKeys.layout] == nil { list[VersionKeys.isForeign] = true }
            list[VersionKeys.hashesDigest] = nil
            list[VersionKeys.pendingStage] = pendingStage
            list.merge(metadata(of: version, type)) { $1 }
        }
        try replaceModel(version.model, configuration: version.configuration?.name)
        // Core Data's own copy of the model would be that of the older version.
        if try hasTable(PersistentStore.archiveTable) {
            try session.run("DELETE FROM \(PersistentStore.archiveTable)", doing: doing)
        }
    }

    /// Replaces the copy of the model.
    package func replaceModel(_ model: ManagedObjectModel, configuration: String?) throws(StoreError) {
        try session.run("DROP TABLE IF EXISTS \(PersistentStore.modelTable)", doing: doing)
        try keepModel(model, configuration: configuration, doing: doing)
    }

    /// Changes the property list with the metadata.
    ///
    /// Keys that the closure leaves alone stay as they are, whoever wrote them.
    package func changeMetadata(_ change: (inout [String: Any]) -> Void) throws(StoreError) {
        let data = try StoreMetadata.changing(try readRow().1, path: path, change)
        try session.run("UPDATE Z_METADATA SET Z_PLIST = ?", [.blob(data)], doing: doing)
    }

    /// The model that the store was written with, if it has a readable copy and has the entities of a configuration.
    package func keptModel(configuration: String?) throws(StoreError) -> ManagedObjectModel? {
        guard let kept = try keptModel(), kept.configuration == nil || kept.configuration == configuration ?? "" else {
            return nil
        }
        return kept.model
    }

    /// The model that the store was written with, if it has a readable copy.
    ///
    /// The configuration is `nil` for a store of Core Data, which has the tables of all entities, and empty for all entities.
    func keptModel() throws(StoreError) -> (model: ManagedObjectModel, configuration: String?)? {
        guard try hasTable(PersistentStore.modelTable) else { return try archivedModel().map { ($0, nil) } }
        let query = "SELECT Z_MODEL, Z_CONFIGURATION FROM \(PersistentStore.modelTable)"
        let rows = try read(query) { row in
            (0...1).map { sqlite3_column_text(row, $0).map { String(cString: $0) } ?? "" }
        }
        guard let row = rows.first, let model = try? ManagedObjectModel(contents: row[0], name: path) else {
            return nil
        }
        return (model, row[1])
    }

    /// The copy that Core Data keeps in its stores, if it can be read.
    private func archivedModel() throws(StoreError) -> ManagedObjectModel? {
        let columns =
            "SELECT 1 FROM SQLITE_MASTER m, pragma_table_info(m.name) c WHERE m.type = 'table' AND m.name = '\(PersistentStore.archiveTable)' AND c.name = 'Z_CONTENT'"
        guard try read(columns, { _ in true }).first == true else { return nil }
        let contents = try read("SELECT Z_CONTENT FROM \(PersistentStore.archiveTable) LIMIT 1") { row in
            sqlite3_column_blob(row, 0).map { Data(bytes: $0, count: Int(sqlite3_column_bytes(row, 0))) }
        }
        guard let content = contents.first, let content else { return nil }
        return try? ManagedObjectModel.cached(content, in: path)
    }
}
