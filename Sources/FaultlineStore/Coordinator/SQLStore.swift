import FaultlineModel
import FaultlineRecorder
import Foundation
import Synchronization

/// An open store: its model, its rows in memory, the connection that writes, and those that read beside it.
final class SQLStore: @unchecked Sendable {
    // What is not constant is guarded by the writer's lock.
    let description: PersistentStoreDescription
    let path: String
    let recorder: Recorder
    let log: SQLDebugLog
    let identity: PersistentStore
    /// The model as this store lays it out: a store that Core Data made may number its entities in another way.
    let schema: ModelSchema
    let entities: [EntityRuntime]
    let rows: RowCache
    let external: ExternalData
    let shapes = ShapeNumbers()
    let values = ValueNumbers()
    /// Whether the store was made by Core Data, which keeps things up that are not known here.
    let isForeign: Bool
    /// The file of a binary store.
    let file: BinaryStoreFile?
    /// By place: whether the store's configuration has the entity; `nil`: it has all.
    let configured: [Bool]?
    /// The first connection, which is the one that writes.
    let writer: StoreConnection
    /// What contexts read with unless they are pinned: the writer and others beside it.
    let pool: ConnectionPool
    let hasWriteAheadLog: Bool
    let relationshipGenerations: RelationshipGenerations
    /// Found before the first save.
    var saveObstacles: SaveObstacles?

    /// - Parameters:
    ///   - storePlace: the store's place among those that its coordinator ever had.
    ///   - sibling: another store of the coordinator.
    init(
        _ description: PersistentStoreDescription, model: ManagedObjectModel, classes: [String: ManagedObject.Type],
        recorder: Recorder, log: SQLDebugLog, storePlace: Int = 0, sibling: SQLStore? = nil
    ) throws(StoreError) {
        let opening = try StoreOpening(description, model: model, recorder: recorder, log: log)
        let sqlite = opening.session.connection
        self.description = description
        path = sqlite.path
        self.recorder = recorder
        self.log = log
        identity = PersistentStore(description, uuid: opening.uuid, metadata: opening.metadata)
        isForeign = opening.metadata.values[StoreOpening.hashKey] == nil
        file = opening.file
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

    /// The class of an entity's objects: its own, or that of the nearest parent that has one.
    private static func objectClass(
        of entity: EntitySchema, in schema: ModelSchema, _ classes: [String: ManagedObject.Type]
    ) -> ManagedObject.Type {
        var place = entity.index
        while classes[schema.entities[place].name] == nil, schema.entities[place].parent >= 0 {
            place = schema.entities[place].parent
        }
        return classes[schema.entities[place].name] ?? ManagedObject.self
    }

    /// Opens one more connection to the store, to read with.
    ///
    /// - Parameters:
    ///   - rows: where it keeps the rows that it reads.
    ///   - epoch: what tells it that others have written.
    func openReader(rows: RowCache, epoch: ReadEpoch) throws(StoreError) -> StoreConnection {
        let session = try StoreOpening.session(description, recorder: recorder, log: log)
        let connection = StoreConnection(session, rows: rows, entities: entities.count, epoch: epoch)
        connection.belong(to: self)
        return connection
    }

    /// Makes the file of a binary store what the open transaction has written.
    ///
    /// Under the writer's lock, right before the commit, which in memory cannot fail.
    func writeFile(doing: String) throws(StoreError) {
        try file?.write(writer.sqlite, doing: doing)
    }

    /// Whether the store can have objects of an entity or of those that inherit from it.
    func has(_ schema: EntitySchema, includesSubentities: Bool = true) -> Bool {
        guard let configured else { return true }
        return includesSubentities ? schema.family.contains { configured[$0] } : configured[schema.index]
    }

    /// - Throws: ``StoreError`` if the store was opened read-only.
    func checkWritable(doing: String) throws(StoreError) {
        if description.isReadOnly { throw StoreError.readOnlyStore(path, doing: doing) }
    }

    /// Lets every read that begins from now on see what others have written.
    func finishReading() { pool.finishReading() }

    /// Closes the file, for good.
    ///
    /// Whoever still has objects of the store gets an error from then on.
    func close() { pool.close() }

    /// The bytes of the column values of rows.
    func bytes(of rows: some Sequence<RowPointer>) -> UInt64 {
        rows.reduce(0) { $0 + UInt64($1.byteCount(entities[Int($1.header.pointee.entity)].layout)) }
    }
}
