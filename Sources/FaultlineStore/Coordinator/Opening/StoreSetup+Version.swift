import CSQLite
import FaultlineModel
import Foundation

/// What a store's file says about its version: the numbers of the entities, the metadata, and a copy of the model.
extension StoreSetup {
    /// Numbers from this one are those of Core Data's own entities, for history and the like.
    static let firstOwnEntity: Int64 = 16000

    /// Writes the numbers of a version's entities.
    ///
    /// - Parameter last: The last key of each tree, by its root's index; 0 where it is missing.
    func number(_ version: StoreVersion, last: [Int: Int64], doing: String) throws(StoreError) {
        for entity in version.schema.entities where version.tables?.contains(entity.table) != false {
            let parent = entity.parent < 0 ? 0 : version.schema.entities[entity.parent].number
            try session.run(
                "INSERT INTO Z_PRIMARYKEY(Z_ENT, Z_NAME, Z_SUPER, Z_MAX) VALUES(?, ?, ?, ?)",
                [.integer(entity.number), .text(entity.name), .integer(parent), .integer(last[entity.index] ?? 0)],
                doing: doing, isTimed: false)
        }
    }

    /// Writes the model into the store, for tools that only have the file.
    ///
    /// Core Data's own archive in Z_MODELCACHE has a different format.
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

    func propertyList(
        _ model: ManagedObjectModel, _ type: PersistentStore.StoreType, _ configuration: StoreConfiguration?
    ) -> Data {
        let hashes = model.entityVersionHashesByName.filter { configuration?.entities.contains($0.key) != false }
        let metadata: [String: Any] = [
            PersistentStore.typeKey: type.rawValue,
            VersionKeys.hashes: hashes, VersionKeys.hashesVersion: VersionKeys.currentHashesVersion,
            VersionKeys.checksum: ManagedObjectModel.checksum(of: hashes),
            VersionKeys.identifiers: model.versionIdentifiers,
            "NSPersistenceFrameworkVersion": 0,
            "_NSAutoVacuumLevel": "2",
            VersionKeys.layout: configuration?.hash ?? model.versionHash,
        ]
        // Strings, numbers and arrays of them can always be encoded.
        return try! PropertyListSerialization.data(fromPropertyList: metadata, format: .binary, options: 0)
    }

    /// Writes the metadata and the copy of the model that a store of a version has, in place of the older ones.
    ///
    /// The program's metadata, and what this library does not know, stay as they are.
    ///
    /// - Parameter pendingStage: The checksum of the version, if its stage has work left to do.
    func replaceVersion(
        _ version: StoreVersion, pendingStage: String? = nil, type: PersistentStore.StoreType, doing: String
    ) throws(StoreError) {
        let stored = try readPropertyList()
        var list = (try? PropertyListSerialization.propertyList(from: stored, format: nil)) as? [String: Any] ?? [:]
        let own = propertyList(version.model, type, version.configuration)
        let new = (try? PropertyListSerialization.propertyList(from: own, format: nil)) as? [String: Any] ?? [:]
        // What Core Data created can have contents that this library does not maintain.
        if list[VersionKeys.layout] == nil { list[VersionKeys.isForeign] = true }
        list[VersionKeys.hashesDigest] = nil
        list[VersionKeys.pendingStage] = pendingStage
        list.merge(new) { $1 }
        let data: Data
        do {
            data = try PropertyListSerialization.data(fromPropertyList: list, format: .binary, options: 0)
        } catch {
            throw StoreError(
                .invalidMetadata, "\(doing) failed because the metadata of '\(path)' cannot be written.", cause: error)
        }
        try session.run("UPDATE Z_METADATA SET Z_PLIST = ?", [.blob(data)], doing: doing)
        try session.run("DROP TABLE IF EXISTS \(PersistentStore.modelTable)", doing: doing)
        try keepModel(version.model, configuration: version.configuration?.name, doing: doing)
        // Core Data's own copy of the model would be that of the older version.
        if try hasTable("Z_MODELCACHE") { try session.run("DELETE FROM Z_MODELCACHE", doing: doing) }
    }

    /// The model that the store was written with, if it has a copy and has the entities of a configuration.
    func keptModel(configuration: String?, path: String) throws(StoreError) -> ManagedObjectModel? {
        guard try hasTable(PersistentStore.modelTable) else { return nil }
        let query = "SELECT Z_MODEL, Z_CONFIGURATION FROM \(PersistentStore.modelTable)"
        let rows = try read(query) { row in
            (0...1).map { sqlite3_column_text(row, $0).map { String(cString: $0) } ?? "" }
        }
        guard let row = rows.first, row[1] == configuration ?? "" else { return nil }
        return try? ManagedObjectModel(contents: row[0], name: path)
    }
}
