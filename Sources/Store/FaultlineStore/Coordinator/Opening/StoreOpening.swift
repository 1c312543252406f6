import CSQLite
package import FaultlineModel
package import FaultlineRecorder
import Foundation

/// Opens a store's file, creates the tables if it is new, and checks that it matches the model.
package struct StoreOpening {
    package let session: SQLSession
    let uuid: String
    package let metadata: StoreMetadata
    package let schema: ModelSchema
    /// `nil` if the store has all entities.
    package let configuration: StoreConfiguration?
    /// The file of a binary store.
    let file: BinaryStoreFile?
    /// `nil` unless the description asks for it.
    let history: StoreHistory?

    /// - Parameter connected: Is passed the connection, which is open even if the store does not match the model.
    package init(
        _ description: PersistentStoreDescription, model: ManagedObjectModel, recorder: Recorder, log: SQLDebugLog,
        connected: (SQLSession) -> Void = { _ in }
    ) throws(StoreError) {
        let path = description.path
        let isNew = description.isInMemory || !FileManager.default.fileExists(atPath: path)
        if let error = Self.obstacle(model, path, isNew: isNew) { throw error }
        configuration =
            if let name = description.configuration {
                try StoreConfiguration(name, of: model, path: path)
            } else {
                nil
            }
        if description.isReadOnly, description.isInMemory, description.type != .binary {
            throw StoreError(
                .readOnly,
                "An in-memory store is empty when it is opened, so it cannot be read-only; leave isReadOnly unset."
            )
        }
        log.connecting(path)
        session = try Self.connect(description, recorder: recorder, log: log)
        connected(session)
        file = description.type == .binary ? BinaryStoreFile(description) : nil
        if let file, try !file.load(into: session.connection), description.isReadOnly {
            throw StoreError.sqlite(SQLITE_CANTOPEN, doing: "Opening the store", path: path, detail: "")
        }
        if !description.isReadOnly, sqlite3_db_readonly(session.connection.handle, "main") == 1 {
            throw StoreError.sqlite(SQLITE_READONLY, doing: "Opening the store", path: path, detail: "")
        }
        let setup = StoreSetup(session, path: path)
        let isStore = try Self.isStore(setup, description)
        if !isStore {
            if let error = Self.obstacle(model, path, isNew: true) { throw error }
            // Only effective before the first table is created (https://www.sqlite.org/pragma.html#pragma_auto_vacuum).
            try setup.pragma("auto_vacuum=2")
        }
        try setup.pragma("recursive_triggers=1")
        if !description.isReadOnly, !description.isInMemory { try setup.useWriteAheadLog() }
        try setup.pragma("synchronous=\(description.synchronization.rawValue)")
        try setup.pragma(Self.pageCache(description))
        if !isStore {
            try setup.makeTables(model, description, configuration)
            try file?.write(session.connection, doing: "Creating the store")
        }
        (uuid, metadata) = try setup.readMetadata()
        // Opened writable, the store would be migrated.
        let remedy =
            description.isReadOnly && description.shouldMigrateStoreAutomatically
            ? "open it writable once, so that it is migrated" : "migrate it"
        let match = StoreMatch(setup, model, configuration, path: path, metadata: metadata.values, remedy: remedy)
        try match.checkVersion()
        if configuration == nil, let hash = metadata.values[VersionKeys.layout] as? String, hash == model.versionHash {
            schema = model.schema
        } else {
            schema = try match.schema()
            if let (name, what) = schema.unlocatedProperty {
                throw Self.error(path, name, "\(what), for which it has no column", "change it")
            }
        }
        history =
            description.tracksPersistentHistory
            ? try StoreHistory(setup, model, schema, isReadOnly: description.isReadOnly) : nil
        if history?.tables.areChanged == true { try file?.write(session.connection, doing: "Opening the store") }
        if description.analyzesWhenAdded, !description.isReadOnly { try setup.analyze() }
    }
}

extension StoreOpening {
    /// Whether a file contains a store; if not, one can be created in it.
    ///
    /// - Throws: ``StoreError`` if it contains something else, or may not be written.
    private static func isStore(
        _ setup: StoreSetup, _ description: PersistentStoreDescription
    ) throws(StoreError) -> Bool {
        if try setup.hasTable("Z_METADATA") { return true }
        // In one transaction, because another process may be creating the tables.
        let found = try setup.inTransaction { () throws(StoreError) in
            (isStore: try setup.hasTable("Z_METADATA"), isEmpty: try !setup.hasAnyTable())
        }
        if found.isStore { return true }
        let path = description.path
        if !found.isEmpty { throw noStore(path) }
        guard description.isReadOnly else { return false }
        throw StoreError(
            .readOnly,
            "'\(path)' contains no store yet, and none can be created because it is opened read-only; open it writable once."
        )
    }

    static func noStore(_ path: String) -> StoreError {
        StoreError(
            .notADatabase,
            "'\(path)' is an SQLite database but not a store: it has tables, but none of them is Z_METADATA; name another file."
        )
    }
}
