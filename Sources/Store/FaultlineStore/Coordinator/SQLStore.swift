package import FaultlineModel
import FaultlineRecorder
import Foundation
import Synchronization

/// An open store: its model, its rows in memory, and its connections.
package final class SQLStore: @unchecked Sendable {
    // The writer's lock guards all mutable state.
    package let description: PersistentStoreDescription
    package let path: String
    let recorder: Recorder
    package let log: SQLDebugLog
    package let identity: PersistentStore
    /// The model with this store's entity numbers, which Core Data may assign differently.
    package let schema: ModelSchema
    let entities: [EntityRuntime]
    let rows: RowCache
    let external: ExternalData
    let shapes = ShapeNumbers()
    let values = ValueNumbers()
    /// Whether Core Data created the store, which may contain structures that this library does not maintain.
    let isForeign: Bool
    /// The history that saves are recorded in; `nil` if the description does not ask for it.
    let history: StoreHistory?
    /// Whether Faultline created a history in the store, which the description does not ask for, so saves would be missing there.
    let hasUntrackedHistory: Bool
    /// The file of a binary store.
    let file: BinaryStoreFile?
    /// By index: whether the store's configuration has the entity; `nil` if it has all.
    let configured: [Bool]?
    /// The first connection, the only one that writes.
    package let writer: StoreConnection
    /// The connections of contexts that are not pinned to a snapshot: the writer, and others that only read.
    let pool: ConnectionPool
    let hasWriteAheadLog: Bool
    let relationshipGenerations: RelationshipGenerations
    /// Determined before the first save.
    var saveObstacles: SaveObstacles?

    /// Opens a store.
    ///
    /// - Parameters:
    ///   - storePlace: The store's index among all stores that its coordinator ever had.
    ///   - sibling: Another store of the coordinator.
    init(
        _ description: PersistentStoreDescription, model: ManagedObjectModel, classes: [String: ManagedObject.Type],
        recorder: Recorder, log: SQLDebugLog, storePlace: Int = 0, sibling: SQLStore? = nil
    ) throws(StoreError) {
        let opening = try StoreMigrations.open(description, model, recorder, log)
        let sqlite = opening.session.connection
        self.description = description
        path = sqlite.path
        self.recorder = recorder
        self.log = log
        identity = PersistentStore(description, uuid: opening.uuid, metadata: opening.metadata)
        isForeign =
            opening.metadata.values[VersionKeys.layout] == nil
            || opening.metadata.values[VersionKeys.isForeign] as? Bool == true
        file = opening.file
        history = opening.history
        hasUntrackedHistory = opening.history == nil && opening.metadata.values[VersionKeys.history] as? Bool == true
        let schema = opening.schema
        self.schema = schema
        entities = schema.entities.map { entity in
            EntityRuntime(
                entity, in: schema, objectClass: Self.objectClass(of: entity, in: schema, classes),
                isUTF8: sqlite.isUTF8, storePlace: storePlace,
                sibling: sibling.flatMap { $0.schema.entity(named: entity.name).map { sibling!.entities[$0.index] } })
        }
        configured = opening.configuration.map { known in schema.entities.map { known.entities.contains($0.name) } }
        external = ExternalData(
            storeURL: description.url, store: opening.uuid,
            threshold: description.isInMemory ? .max : description.externalStorageThreshold)
        rows = RowCache(entities, limit: description.rowCacheLimit, recorder: recorder)
        let relationships = schema.entities.flatMap(\.properties).map(\.relationshipNumber).max() ?? -1
        relationshipGenerations = RelationshipGenerations(count: relationships + 1)
        hasWriteAheadLog = sqlite.hasWriteAheadLog
        writer = StoreConnection(opening.session, rows: rows, entities: entities.count)
        pool = ConnectionPool(writer, readers: hasWriteAheadLog ? description.connectionPoolMaxSize - 1 : 0)
        writer.belong(to: self)
        for entity in entities { entity.belong(to: self) }
        if !description.isReadOnly, !description.isInMemory {
            ExternalCollection(external, schema, sqlite).collect()
        }
    }

    /// The class of an entity's objects: its own, or that of the nearest ancestor that has one.
    private static func objectClass(
        of entity: EntitySchema, in schema: ModelSchema, _ classes: [String: ManagedObject.Type]
    ) -> ManagedObject.Type {
        var position = entity.index
        while classes[schema.entities[position].name] == nil, let parent = schema.entities[position].parent {
            position = parent
        }
        return classes[schema.entities[position].name] ?? ManagedObject.self
    }

    /// Opens another connection to the store, for reading.
    ///
    /// - Parameters:
    ///   - rows: The cache for the rows that it reads.
    ///   - epoch: Signals that others have written.
    func openReader(rows: RowCache, epoch: ReadEpoch) throws(StoreError) -> StoreConnection {
        let session = try StoreOpening.session(description, recorder: recorder, log: log)
        let connection = StoreConnection(session, rows: rows, entities: entities.count, epoch: epoch)
        connection.belong(to: self)
        return connection
    }

    /// The ID of an object of this store for its URL; `nil` for other URLs, and for temporary IDs.
    func objectID(_ url: URL) -> ManagedObjectID? {
        let parts = url.path.split(separator: "/")
        guard url.scheme == "x-coredata", let host = url.host, parts.count == 2,
            identity.identifier.caseInsensitiveCompare(host) == .orderedSame,
            let entity = schema.entity(named: String(parts[0])), parts[1].first == "p",
            let key = Int64(parts[1].dropFirst()), key > 0
        else { return nil }
        return ManagedObjectID(store: identity, entity: entity, key: key)
    }

    /// Replaces the file of a binary store, including the changes of the open transaction.
    ///
    /// Called under the writer's lock, right before the commit, which cannot fail in memory.
    func writeFile(doing: String) throws(StoreError) {
        try file?.write(writer.sqlite, doing: doing)
    }

    /// Whether the store can contain objects of an entity or, optionally, its subentities.
    func has(_ schema: EntitySchema, includesSubentities: Bool = true) -> Bool {
        guard let configured else { return true }
        return includesSubentities ? schema.family.contains { configured[$0] } : configured[schema.index]
    }

    /// Checks that the store can be written.
    ///
    /// - Throws: ``StoreError`` if the store was opened read-only.
    func checkWritable(doing: String) throws(StoreError) {
        if description.isReadOnly { throw StoreError.readOnlyStore(path, doing: doing) }
    }

    /// Makes every read that begins later see what others have written.
    func finishReading() { pool.finishReading() }

    /// Closes the file permanently.
    ///
    /// Later accesses through remaining objects of the store fail.
    func close() { pool.close() }

    /// The total bytes of the rows' column values.
    func bytes(of rows: some Sequence<RowPointer>) -> UInt64 {
        rows.reduce(0) { $0 + UInt64($1.byteCount(entities[Int($1.header.pointee.entity)].layout)) }
    }
}
