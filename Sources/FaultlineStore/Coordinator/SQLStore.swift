import CSQLite
import Dispatch
import FaultlineModel
import FaultlineRecorder
import FaultlineTrace
import Foundation
import Synchronization

/// An open store: one connection, its rows in memory, and the events of what it does.
///
/// The connection and everything that says "under the lock" is guarded by ``locked(_:)``.
final class SQLStore: @unchecked Sendable {
    // What is not constant is only touched under the lock.
    let description: PersistentStoreDescription
    let path: String
    let recorder: Recorder
    let log: SQLDebugLog
    let session: SQLSession
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

    private let lock = Mutex(())
    private let holder = Holder()
    /// How many wait for the connection.
    let waiting = Atomic<Int>(0)
    /// The connections that read beside this one; those have none of their own.
    let pool: ReaderPool
    let turns = Atomic<UInt64>(0)
    let hasWriteAheadLog: Bool
    /// What a burst of reading is compared with before it goes on.
    let epoch: ReadEpoch
    /// The epoch and the row cache's state when the burst began.
    @exclusivity(unchecked)
    private var burst: (epoch: UInt64, rows: UInt64) = (0, 0)
    var connection: SQLConnection { session.connection }
    let relationshipGenerations: RelationshipGenerations
    /// Whether ``endRead()`` has something to end.
    @exclusivity(unchecked)
    var isReading = false
    /// Statements that read since the store was opened, to find out whether a burst of reading goes on.
    @exclusivity(unchecked)
    var reads: UInt64 = 0
    private var isCheckScheduled = false
    /// Whether the connection may be held by nobody but the check.
    private let isChecking = Atomic<Bool>(false)
    private let reference = StoreReference()
    /// Whether the coordinator has closed the store.
    @exclusivity(unchecked)
    private var isRemoved = false
    /// Whether the transaction stays open.
    @exclusivity(unchecked)
    private var isPinned = false
    var insertStatements: [Int: SQLStatement] = [:]
    var updateStatements: [UpdateShape: SQLStatement] = [:]
    /// By entity, once one of its faults was read.
    @exclusivity(unchecked)
    var faultReaders: [FaultReader?]
    /// Found before the first save.
    var saveObstacles: SaveObstacles?

    /// How long a read transaction outlives the last read, in milliseconds.
    static let idleMilliseconds = 5

    /// - Parameters:
    ///   - storePlace: the store's place among those that its coordinator ever had.
    ///   - sibling: another store of the coordinator.
    init(
        _ description: PersistentStoreDescription, model: ManagedObjectModel, classes: [String: ManagedObject.Type],
        recorder: Recorder, log: SQLDebugLog, storePlace: Int = 0, sibling: SQLStore? = nil
    ) throws(StoreError) {
        let opening = try StoreOpening(description, model: model, recorder: recorder, log: log)
        self.description = description
        session = opening.session
        path = opening.session.connection.path
        self.recorder = recorder
        self.log = log
        identity = PersistentStore(description, uuid: opening.uuid, metadata: opening.metadata)
        isForeign = opening.metadata.values[StoreOpening.hashKey] == nil
        file = opening.file
        let schema = opening.schema
        self.schema = schema
        let isUTF8 = opening.session.connection.isUTF8
        entities = schema.entities.map { entity in
            var place = entity.index
            while classes[schema.entities[place].name] == nil, schema.entities[place].parent >= 0 {
                place = schema.entities[place].parent
            }
            return EntityRuntime(
                entity, in: schema, objectClass: classes[schema.entities[place].name] ?? ManagedObject.self,
                isUTF8: isUTF8, storePlace: storePlace,
                sibling: sibling.flatMap { $0.schema.entity(named: entity.name).map { sibling!.entities[$0.index] } })
        }
        configured = opening.configuration.map { known in schema.entities.map { known.entities.contains($0.name) } }
        external = ExternalData(
            storeURL: description.url, store: opening.uuid,
            threshold: description.isInMemory ? .max : description.externalStorageThreshold)
        rows = RowCache(roots: entities.count, limit: description.rowCacheLimit)
        let relationships = schema.entities.flatMap(\.properties).map(\.relationshipNumber).max() ?? -1
        relationshipGenerations = RelationshipGenerations(count: relationships + 1)
        hasWriteAheadLog = opening.session.connection.hasWriteAheadLog
        pool = ReaderPool(limit: description.connectionPoolMaxSize - 1, isUsable: hasWriteAheadLog)
        epoch = ReadEpoch()
        faultReaders = Array(repeating: nil, count: entities.count)
        reference.set(self)
        for entity in entities { entity.belong(to: self) }
        if !description.isReadOnly, !description.isInMemory {
            ExternalCollection(external, schema, opening.session.connection).collect()
        }
    }

    deinit {
        reference.clear()
    }

    /// One more connection to a store, which shares everything with the first but what belongs to a connection.
    ///
    /// - Parameter rows: where it keeps the rows that it reads; `nil`: with the others'.
    init(readerOf store: SQLStore, rows: RowCache? = nil) throws(StoreError) {
        description = store.description
        path = store.path
        recorder = store.recorder
        log = store.log
        session = try StoreOpening.session(store.description, recorder: store.recorder, log: store.log)
        identity = store.identity
        isForeign = store.isForeign
        file = nil
        schema = store.schema
        entities = store.entities
        external = store.external
        configured = store.configured
        self.rows = rows ?? store.rows
        relationshipGenerations = store.relationshipGenerations
        faultReaders = Array(repeating: nil, count: store.entities.count)
        hasWriteAheadLog = store.hasWriteAheadLog
        pool = ReaderPool(limit: 0, isUsable: false)
        epoch = rows == nil ? store.epoch : ReadEpoch()
        reference.set(self)
    }

    /// Makes the file of a binary store what the open transaction has written.
    ///
    /// Under the lock, right before the commit, which in memory cannot fail.
    func writeFile(doing: String) throws(StoreError) {
        try file?.write(connection, doing: doing)
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

    /// Holds the connection for one caller at a time.
    ///
    /// Not to be nested.
    ///
    /// - Parameter origin: who asks, for those who wait meanwhile, and for the event of a wait of its own.
    func locked<R>(
        for origin: TraceOrigin = TraceOrigin(), _ body: () throws(StoreError) -> R
    ) throws(StoreError) -> R {
        var outcome = WorkOutcome<R>()
        func work(_ store: SQLStore) { outcome.run(on: store) { _ throws(StoreError) in try body() } }
        if !lockIfFree(for: origin, work) { lock(for: origin, .coordinator, work) }
        return try outcome.get()
    }

    /// Does work if nobody else has the connection.
    ///
    /// - Returns: whether it was done.
    func lockIfFree(for origin: TraceOrigin, _ work: (SQLStore) -> Void) -> Bool {
        let isRecording = recorder.isEnabled
        while true {
            let isChecked = isChecking.load(ordering: .sequentiallyConsistent)
            if lock.withLockIfAvailable({ _ in hold(origin, isRecording, work) }) != nil { return true }
            // The end of a burst takes no time, and is no reason to go to another connection.
            guard isChecked || isChecking.load(ordering: .sequentiallyConsistent) else { return false }
            sched_yield()
        }
    }

    /// Waits for the connection and does work.
    func lock(for origin: TraceOrigin, _ resource: TraceEvent.Wait.Resource, _ work: (SQLStore) -> Void) {
        let isRecording = recorder.isEnabled
        let (asked, wait) = (recorder.now(), holder.wait(for: resource, isBlocking: true))
        waiting.add(1, ordering: .relaxed)
        lock.withLock { _ in
            waiting.subtract(1, ordering: .relaxed)
            if isRecording { recorder.record(wait, since: asked, context: origin.context, site: origin.site) }
            hold(origin, isRecording, work)
        }
    }

    private func hold(_ origin: TraceOrigin, _ isRecording: Bool, _ work: (SQLStore) -> Void) {
        if isRecording { holder.set(origin) }
        work(self)
        if isRecording { holder.clear() }
    }

    // MARK: - The transaction that a burst of reading shares

    /// Begins the transaction that this read and those that follow share.
    ///
    /// Under the lock.
    ///
    /// Without one every look-up would lock and unlock the file, which costs several times the look-up itself.
    func beginRead() throws(StoreError) {
        reads &+= 1
        guard !isPinned else { return }
        let now = (epoch: epoch.current, rows: rows.generation)
        if isReading {
            // A save of this process, or a refresh, is to be seen by what is read after it.
            if now == burst { return }
            endRead()
        }
        burst = now
        try session.run("BEGIN", doing: "Reading", isLogged: false)
        isReading = true
        scheduleCheck()
    }

    /// Begins a transaction that stays, so that everything is read as it is now.
    func pin() throws(StoreError) {
        try locked { () throws(StoreError) in
            try beginRead()
            // A transaction's state is that of its first look (https://www.sqlite.org/isolation.html).
            let statement = try connection.statement("SELECT Z_VERSION FROM Z_METADATA")
            log.statement(statement.sql)
            try session.readAsEvent(statement, doing: "Reading") { _ in }
            isPinned = true
        }
    }

    /// Ends it, so that the next read sees what others wrote.
    ///
    /// Under the lock.
    func endRead() {
        guard isReading, !isPinned else { return }
        isReading = false
        finishFaults()
        // Nothing was written, so there is nothing that could fail to be committed.
        _ = try? session.run("COMMIT", doing: "Reading", isLogged: false)
    }

    /// Lets go of the blocks that faults are filling.
    ///
    /// Under the lock.
    func finishFaults() {
        for reader in faultReaders { reader?.finishBurst() }
    }

    /// The state of the row cache when the burst began: what is read does not go there if it is older than that.
    ///
    /// Under the lock.
    var readGeneration: UInt64 { burst.rows }

    /// Ends the read transaction, if there is one and nobody uses it.
    func finishIfFree() {
        _ = lock.withLockIfAvailable { _ in endRead() }
    }

    // MARK: - The end

    /// Closes the file, for good.
    ///
    /// Whoever still has objects of the store gets an error from then on.
    func close() {
        for reader in pool.close() { reader.close() }
        lock.withLock { _ in
            endRead()
            isRemoved = true
            (insertStatements, updateStatements) = ([:], [:])
            faultReaders = Array(repeating: nil, count: faultReaders.count)
            connection.close()
        }
    }

    /// Under the lock.
    ///
    /// - Throws: ``StoreError`` if the store was closed.
    func checkOpen() throws(StoreError) {
        guard isRemoved else { return }
        throw StoreError(
            .storeRemoved,
            "The store '\(path)' was removed from its coordinator, so that nothing can be read from it or saved to it; add it again, and fetch its objects anew."
        )
    }

    private func scheduleCheck() {
        guard !isCheckScheduled else { return }
        isCheckScheduled = true
        Self.schedule(reference, reads)
    }

    private static func schedule(_ reference: StoreReference, _ reads: UInt64) {
        DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + .milliseconds(idleMilliseconds)) {
            guard let store = reference.store() else { return }
            store.isChecking.store(true, ordering: .sequentiallyConsistent)
            let isChecked: Void? = store.lock.withLockIfAvailable { _ in
                store.isCheckScheduled = false
                guard store.isReading else { return }
                if store.reads == reads { store.endRead() } else { store.scheduleCheck() }
            }
            store.isChecking.store(false, ordering: .sequentiallyConsistent)
            // Whoever has the connection reads, or will end the burst by writing.
            if isChecked == nil { schedule(reference, reads) }
        }
    }
}
