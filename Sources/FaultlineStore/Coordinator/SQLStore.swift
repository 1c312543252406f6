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
    let identity: StoreIdentity
    /// The model as this store lays it out: a store that Core Data made may number its entities in another way.
    let schema: ModelSchema
    let entities: [EntityRuntime]
    let rows: RowCache
    let external: ExternalData
    let shapes = ShapeNumbers()
    let metadata: [String: any Sendable]

    private let lock = Mutex(())
    private let holder = Holder()
    var connection: SQLConnection { session.connection }
    /// How often the members of each to-many relationship were changed, by relationship number.
    var relationshipGenerations: [UInt64]
    /// Whether ``endRead()`` has something to end.
    var isReading = false
    /// Statements that read since the store was opened, to find out whether a burst of reading goes on.
    var reads: UInt64 = 0
    private var isCheckScheduled = false
    private let reference = StoreReference()
    var insertStatements: [Int: SQLStatement] = [:]
    var updateStatements: [UpdateShape: SQLStatement] = [:]
    var faultStatements: [SQLStatement?]
    /// By root entity: what the faults of a burst copy their rows with.
    var faultBuilders: [RowBuilder?]
    /// Found before the first save.
    var saveObstacles: SaveObstacles?

    /// How long a read transaction outlives the last read, in milliseconds.
    static let idleMilliseconds = 5

    init(
        _ description: PersistentStoreDescription, model: ManagedObjectModel, classes: [String: ManagedObject.Type],
        recorder: Recorder, log: SQLDebugLog
    ) throws(StoreError) {
        let opening = try StoreOpening(description, model: model, recorder: recorder, log: log)
        self.description = description
        session = opening.session
        path = opening.session.connection.path
        self.recorder = recorder
        self.log = log
        identity = StoreIdentity(uuid: opening.uuid)
        metadata = opening.metadata
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
                isUTF8: isUTF8)
        }
        external = ExternalData(storeURL: description.url, threshold: description.externalStorageThreshold)
        rows = RowCache(roots: entities.count, limit: description.rowCacheLimit)
        let relationships = schema.entities.flatMap(\.properties).map(\.relationshipNumber).max() ?? -1
        relationshipGenerations = Array(repeating: 0, count: relationships + 1)
        faultStatements = Array(repeating: nil, count: entities.count)
        faultBuilders = Array(repeating: nil, count: entities.count)
        reference.set(self)
    }

    deinit {
        reference.clear()
    }

    /// Whether the store was made by Core Data, which keeps things up that are not known here.
    var isForeign: Bool { metadata[StoreOpening.hashKey] == nil }

    /// Holds the connection for one caller at a time.
    ///
    /// Not to be nested.
    ///
    /// - Parameter origin: who asks, for those who wait meanwhile, and for the event of a wait of its own.
    func locked<R>(
        for origin: TraceOrigin = TraceOrigin(), _ body: () throws(StoreError) -> R
    ) throws(StoreError) -> R {
        let isRecording = recorder.isEnabled
        var result: Result<R, StoreError>?
        func hold() {
            if isRecording { holder.set(origin) }
            do throws(StoreError) {
                result = .success(try body())
            } catch {
                result = .failure(error)
            }
            if isRecording { holder.clear() }
        }
        if lock.withLockIfAvailable({ _ in hold() }) == nil {
            let (asked, wait) = (recorder.now(), holder.wait(for: .coordinator, isBlocking: true))
            lock.withLock { _ in
                if isRecording { recorder.record(wait, since: asked, context: origin.context, site: origin.site) }
                hold()
            }
        }
        return try result!.get()
    }

    // MARK: - The transaction that a burst of reading shares

    /// Begins the transaction that this read and those that follow share.
    ///
    /// Under the lock.
    ///
    /// Without one every look-up would lock and unlock the file, which costs several times the look-up itself.
    func beginRead() throws(StoreError) {
        reads &+= 1
        guard !isReading else { return }
        try session.run("BEGIN", doing: "Reading", isLogged: false)
        isReading = true
        scheduleCheck()
    }

    /// Ends it, so that the next read sees what others wrote.
    ///
    /// Under the lock.
    func endRead() {
        guard isReading else { return }
        isReading = false
        removeFaultBuilders()
        // Nothing was written, so there is nothing that could fail to be committed.
        _ = try? session.run("COMMIT", doing: "Reading", isLogged: false)
    }

    /// Lets go of the blocks that faults are filling: those whose rows nobody uses are not to stay.
    ///
    /// Under the lock.
    func removeFaultBuilders() {
        for place in faultBuilders.indices where faultBuilders[place] != nil { faultBuilders[place] = nil }
    }

    /// Ends the read transaction, if there is one.
    func finishReading() {
        lock.withLock { _ in endRead() }
    }

    private func scheduleCheck() {
        guard !isCheckScheduled else { return }
        isCheckScheduled = true
        let reads = reads
        DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + .milliseconds(Self.idleMilliseconds)) {
            [reference] in
            guard let store = reference.store() else { return }
            store.lock.withLock { _ in
                store.isCheckScheduled = false
                guard store.isReading else { return }
                if store.reads == reads { store.endRead() } else { store.scheduleCheck() }
            }
        }
    }
}
