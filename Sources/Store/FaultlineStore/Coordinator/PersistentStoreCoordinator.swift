public import FaultlineModel
public import FaultlineRecorder
public import Foundation
import Synchronization

/// Connects contexts to the stores that they share.
public final class PersistentStoreCoordinator: Sendable {
    /// The model of all stores.
    public let managedObjectModel: ManagedObjectModel
    package let recorder: Recorder
    let log: SQLDebugLog
    /// The advice to try in the contexts' fetches; usually `nil`.
    let advice: TriedAdvice?
    let mergingContexts = MergingContexts()
    let livingContexts = LivingContexts()
    private let classes: [String: ManagedObject.Type]
    private let opened = Mutex(Opened())
    /// Counts added and removed stores, so contexts can detect a change.
    private let changes = Atomic<Int>(0)

    private struct Opened {
        var stores: [SQLStore] = []
        /// The number of stores ever added.
        var count = 0
    }

    /// Creates a coordinator without stores.
    ///
    /// - Parameters:
    ///   - managedObjectModel: The model of all stores.
    ///   - classes: The classes of objects; an entity without one uses its parent's, or else ``ManagedObject``.
    ///   - recorder: Records the events of all stores.
    ///   - sqlDebug: Logs statements.
    /// - Throws: ``StoreError`` if a class has no entity, or does not inherit from the class of its entity's parent.
    public convenience init(
        managedObjectModel: ManagedObjectModel, classes: [ManagedObject.Type] = [], recorder: Recorder = .shared,
        sqlDebug: SQLDebugLog = .shared
    ) throws(StoreError) {
        try self.init(
            managedObjectModel: managedObjectModel, classes: classes, recorder: recorder, sqlDebug: sqlDebug,
            advice: TriedAdvice.ofEnvironment)
    }

    /// Creates a coordinator that tries advice.
    ///
    /// - Parameter advice: The advice to try in fetches.
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
        // Objects of a subentity are also fetched as objects of its ancestors, so their class must inherit from theirs.
        for (name, type) in byName.sorted(by: { $0.key < $1.key }) {
            var next = model.entity(named: name)?.parent
            while let parent = next {
                if let parentClass = byName[parent], !parentClass.isInherited(by: type) {
                    throw StoreError(
                        .invalidClass,
                        "The class \(type) of the entity '\(name)' does not inherit from \(parentClass), the class of its parent '\(parent)'; make it inherit from that class, or remove one of the two classes."
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

    /// Opens a store, and creates it if it does not exist.
    ///
    /// Contexts use it from their next fetch, insertion or `perform`.
    ///
    /// - Throws: ``StoreError`` if the file cannot be opened, is not a store, was created with another model or is
    ///   already open here; or if the model does not have the configuration.
    @discardableResult
    public func addPersistentStore(with description: PersistentStoreDescription) throws(StoreError) -> PersistentStore {
        try opened.withLock { (opened) throws(StoreError) in
            let path = description.url.resolvingSymlinksInPath().path
            if description.isInFile, opened.stores.contains(where: { $0.description.isIn(path) }) {
                throw StoreError(
                    .invalidRequest,
                    "'\(description.path)' is already open; use the store that persistentStore(for:) returns for it.")
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
    /// Contexts discard its objects, including their unsaved changes, at their next fetch, save or `perform`. Until
    /// then, values that have not been read can no longer be read; afterward, objects that are still held read as their
    /// defaults.
    ///
    /// - Throws: ``StoreError`` if the coordinator does not have the store.
    public func remove(_ store: PersistentStore) throws(StoreError) {
        let removed = try opened.withLock { (opened) throws(StoreError) in
            guard let position = opened.stores.firstIndex(where: { $0.identity === store }) else {
                throw StoreError(
                    .invalidRequest,
                    "'\(store.url.path)' cannot be removed because the coordinator does not have it; remove a store once, from the coordinator that opened it."
                )
            }
            changes.add(1, ordering: .releasing)
            return opened.stores.remove(at: position)
        }
        removed.close()
    }

    /// The store that was opened with a URL; `nil` if there is none.
    public func persistentStore(for url: URL) -> PersistentStore? {
        let path = url.resolvingSymlinksInPath().path
        return stores.first { $0.description.isIn(path) }?.identity
    }

    package var stores: [SQLStore] { opened.withLock { $0.stores } }

    /// The current stores, the number of changes so far, and the number of stores ever added.
    var state: (stores: [SQLStore], generation: Int, count: Int) {
        opened.withLock { ($0.stores, changes.load(ordering: .relaxed), $0.count) }
    }

    /// The number of times that stores were added or removed.
    ///
    /// - Complexity: One load.
    @inline(__always)
    var generation: Int { changes.load(ordering: .acquiring) }

    /// The first of the open stores.
    private var first: SQLStore {
        guard let first = stores.first else { incorrectUse("The coordinator has no store; add one first.") }
        return first
    }

    /// The file of the first store.
    ///
    /// Traps if there is no store.
    public var url: URL { first.description.url }

    /// The identifier of the first store: its ``PersistentStore/identifier``.
    ///
    /// Traps if there is no store.
    public var storeUUID: String { first.identity.identifier }

    // MARK: - Identities

    /// Returns the object ID for a URL from ``ManagedObjectID/uriRepresentation()``; `nil` for other URLs and for
    /// stores that are not open here.
    public func managedObjectID(forURIRepresentation url: URL) -> ManagedObjectID? {
        for store in stores {
            if let id = store.objectID(url) { return id }
        }
        return nil
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

    /// Evicts all rows that no object uses.
    ///
    /// For tests and tools of this package.
    package func removeUnusedRows() {
        for store in stores {
            try? store.writer.locked { () throws(StoreError) in store.writer.finishFaults() }
            store.rows.removeUnused()
        }
    }

    /// Discards all rows in memory: all objects of all contexts become faults, and the row caches are emptied.
    ///
    /// Unsaved changes are kept.
    func forgetRows() {
        for context in livingContexts.all { context.performAndWait { context.refreshAllObjects() } }
        for store in stores {
            try? store.writer.locked { () throws(StoreError) in store.writer.finishFaults() }
            store.rows.removeAll()
        }
    }

    /// Passes the SQLite connection of a store, by default the first, to a closure, under its lock.
    ///
    /// For tests and tools of this package.
    package func withConnection<R>(to identity: PersistentStore? = nil, _ body: (OpaquePointer) -> R) throws -> R {
        let store = stores.first { $0.identity === identity } ?? first
        return try store.writer.locked { () throws(StoreError) in body(store.writer.sqlite.handle) }
    }
}
