public import FaultlineModel
public import FaultlineRecorder
public import Foundation
import Synchronization

/// Joins contexts with the stores that they share.
public final class PersistentStoreCoordinator: Sendable {
    /// The model of the stores.
    public let managedObjectModel: ManagedObjectModel
    let recorder: Recorder
    let log: SQLDebugLog
    /// What fetches of its contexts are to do otherwise; `nil`, as nearly always: nothing.
    let advice: TriedAdvice?
    let mergingContexts = MergingContexts()
    let livingContexts = LivingContexts()
    private let classes: [String: ManagedObject.Type]
    private let opened = Mutex(Opened())
    /// Counts the stores that came and went, so that contexts notice.
    private let changes = Atomic<Int>(0)

    private struct Opened {
        var stores: [SQLStore] = []
        /// How many there ever were.
        var count = 0
    }

    /// A coordinator without stores.
    ///
    /// - Parameters:
    ///   - classes: the classes of objects; an entity without one has its parent's, or else ``ManagedObject``.
    ///   - recorder: takes the events of everything that the stores do.
    ///   - sqlDebug: takes the log of statements.
    /// - Throws: ``StoreError`` if a class has no entity, or does not inherit from the class of its entity's parent.
    public convenience init(
        managedObjectModel: ManagedObjectModel, classes: [ManagedObject.Type] = [], recorder: Recorder = .shared,
        sqlDebug: SQLDebugLog = .shared
    ) throws(StoreError) {
        try self.init(
            managedObjectModel: managedObjectModel, classes: classes, recorder: recorder, sqlDebug: sqlDebug,
            advice: TriedAdvice.ofEnvironment)
    }

    /// - Parameter advice: What its fetches are to try; the environment's, unless somebody says otherwise.
    init(
        managedObjectModel: ManagedObjectModel, classes: [ManagedObject.Type], recorder: Recorder,
        sqlDebug: SQLDebugLog, advice: TriedAdvice?
    ) throws(StoreError) {
        self.managedObjectModel = managedObjectModel
        self.recorder = recorder
        log = sqlDebug
        self.advice = advice
        self.classes = try Self.classesByName(classes, managedObjectModel)
    }

    private static func classesByName(
        _ classes: [ManagedObject.Type], _ model: ManagedObjectModel
    ) throws(StoreError) -> [String: ManagedObject.Type] {
        var byName: [String: ManagedObject.Type] = [:]
        for type in classes {
            guard model.entity(named: type.entityName) != nil else {
                throw StoreError(
                    .unknownEntity,
                    "The class \(type) is for the entity '\(type.entityName)', which the model does not have; correct its entityName."
                )
            }
            byName[type.entityName] = type
        }
        // Objects of a subentity are fetched as objects of its parents, so their class must be one of those as well.
        for (name, type) in byName.sorted(by: { $0.key < $1.key }) {
            var next = model.entity(named: name)?.parent
            while let parent = next {
                if let parentClass = byName[parent], !parentClass.isInherited(by: type) {
                    throw StoreError(
                        .invalidClass,
                        "The class \(type) of the entity '\(name)' does not inherit from \(parentClass), the class of its parent '\(parent)'; let it inherit, or leave out one of the two."
                    )
                }
                next = model.entity(named: parent)?.parent
            }
        }
        return byName
    }

    // MARK: - Stores

    /// The stores, in the order in which they were added.
    public var persistentStores: [PersistentStore] { stores.map(\.identity) }

    /// Opens a store, and makes it if it is not there.
    ///
    /// Contexts have it from their next fetch, insertion or `perform` on.
    ///
    /// - Throws: ``StoreError`` if the file cannot be opened, is no store, was made with another model or is open here
    ///   already; or if the model does not have the configuration.
    @discardableResult
    public func addPersistentStore(with description: PersistentStoreDescription) throws(StoreError) -> PersistentStore {
        try opened.withLock { (opened) throws(StoreError) in
            let path = description.url.resolvingSymlinksInPath().path
            if description.isInFile, opened.stores.contains(where: { $0.description.isIn(path) }) {
                throw StoreError(
                    .invalidRequest,
                    "'\(description.path)' is open already; use the store that persistentStore(for:) gives for it.")
            }
            let store = try SQLStore(
                description, model: managedObjectModel, classes: classes, recorder: recorder, log: log,
                storePlace: opened.count, sibling: opened.stores.first)
            opened.stores.append(store)
            opened.count += 1
            changes.add(1, ordering: .releasing)
            return store.identity
        }
    }

    /// Closes a store.
    ///
    /// Contexts forget its objects, with their unsaved changes, at their next fetch, save or `perform`. Objects of it that
    /// are still held read as their defaults from then on; until then what they have not read cannot be read any more.
    ///
    /// - Throws: ``StoreError`` if the coordinator does not have the store.
    public func remove(_ store: PersistentStore) throws(StoreError) {
        let removed = try opened.withLock { (opened) throws(StoreError) in
            guard let place = opened.stores.firstIndex(where: { $0.identity === store }) else {
                throw StoreError(
                    .invalidRequest,
                    "'\(store.url.path)' cannot be removed because the coordinator does not have it; remove a store once, from the coordinator that opened it."
                )
            }
            changes.add(1, ordering: .releasing)
            return opened.stores.remove(at: place)
        }
        removed.close()
    }

    /// The store that was opened with a URL; `nil`: there is none.
    public func persistentStore(for url: URL) -> PersistentStore? {
        let path = url.resolvingSymlinksInPath().path
        return stores.first { $0.description.isIn(path) }?.identity
    }

    var stores: [SQLStore] { opened.withLock { $0.stores } }

    /// The stores as they are now, with how often they have changed before, and how many there ever were.
    var state: (stores: [SQLStore], generation: Int, count: Int) {
        opened.withLock { ($0.stores, changes.load(ordering: .relaxed), $0.count) }
    }

    /// How often stores came and went.
    ///
    /// - Complexity: one load.
    @inline(__always)
    var generation: Int { changes.load(ordering: .acquiring) }

    /// The store that was opened first, of those that are open.
    private var first: SQLStore {
        guard let first = stores.first else { incorrectUse("The coordinator has no store; add one first.") }
        return first
    }

    /// The file of the first store.
    ///
    /// Traps if there is no store.
    public var url: URL { first.description.url }

    /// What identifies the first store: its ``PersistentStore/identifier``.
    ///
    /// Traps if there is no store.
    public var storeUUID: String { first.identity.identifier }

    // MARK: - Identities

    /// The identity that ``ManagedObjectID/uriRepresentation()`` made a URL of; `nil` if it belongs to a store that is not
    /// open here, or is no such URL.
    public func managedObjectID(forURIRepresentation url: URL) -> ManagedObjectID? {
        let parts = url.path.split(separator: "/")
        guard url.scheme == "x-coredata", let host = url.host?.uppercased(), parts.count == 2,
            let store = stores.first(where: { $0.identity.identifier.uppercased() == host }),
            let entity = store.schema.entity(named: String(parts[0])), parts[1].first == "p",
            let key = Int64(parts[1].dropFirst()), key > 0
        else { return nil }
        return ManagedObjectID(store: store.identity, entity: entity, key: key)
    }
}

extension PersistentStoreCoordinator {
    /// Runs a statement on the first store's connection.
    ///
    /// For tests and tools of this package.
    package func run(_ sql: String) throws {
        let store = first
        try store.writer.locked { () throws(StoreError) in
            store.writer.endRead()
            try store.writer.session.run(sql, doing: "Running a statement")
        }
    }

    /// Lets go of all rows in memory that no object uses.
    ///
    /// For tests and tools of this package.
    package func removeUnusedRows() {
        for store in stores {
            try? store.writer.locked { () throws(StoreError) in store.writer.finishFaults() }
            store.rows.removeUnused()
        }
    }

    /// Forgets every row in memory: all objects of all contexts become faults, with their unsaved changes kept, and the
    /// stores' row caches are emptied.
    func forgetRows() {
        for context in livingContexts.all { context.performAndWait { context.refreshAllObjects() } }
        for store in stores {
            try? store.writer.locked { () throws(StoreError) in store.writer.finishFaults() }
            store.rows.removeAll()
        }
    }

    /// Hands out SQLite's connection to a store, the first one unless another is named, under the lock.
    ///
    /// For tests and tools of this package.
    package func withConnection<R>(to identity: PersistentStore? = nil, _ body: (OpaquePointer) -> R) throws -> R {
        let store = stores.first { $0.identity === identity } ?? first
        return try store.writer.locked { () throws(StoreError) in body(store.writer.sqlite.handle) }
    }
}
