public import FaultlineModel
public import FaultlineRecorder
public import Foundation
import Synchronization

/// A coordinator with its stores and contexts: the usual entry point.
///
///     let container = try PersistentContainer(
///         name: "Groceries", managedObjectModel: model, storeURL: url, classes: [Item.self, Category.self])
///     let items = try container.viewContext.fetch(FetchRequest<Item>())
public final class PersistentContainer: Sendable {
    /// The name given at creation.
    public let name: String
    /// The model of all stores.
    public let managedObjectModel: ManagedObjectModel
    /// The coordinator, which has the stores.
    public let persistentStoreCoordinator: PersistentStoreCoordinator
    /// The context of the main queue.
    public let viewContext: ManagedObjectContext
    /// The descriptions of the open stores.
    public var persistentStoreDescriptions: [PersistentStoreDescription] {
        persistentStoreCoordinator.stores.map(\.description)
    }
    /// The description of the first store.
    ///
    /// Traps if there is none.
    public var persistentStoreDescription: PersistentStoreDescription {
        guard let first = persistentStoreDescriptions.first else {
            incorrectUse("The container has no store; add one to its coordinator first.")
        }
        return first
    }

    private let contexts = Atomic<Int>(0)

    /// Opens a store, and creates it if it does not exist.
    ///
    /// - Parameters:
    ///   - name: A name for the container, which affects nothing else.
    ///   - managedObjectModel: The model of the store.
    ///   - storeDescription: The store's location, format and use.
    ///   - classes: The classes of objects; an entity without one uses its parent's, or else ``ManagedObject``.
    ///   - recorder: Records the store's events.
    ///   - sqlDebug: Logs statements.
    /// - Throws: ``StoreError`` if the file cannot be opened, is not a store, or was created with another model; also
    ///   if a class has no entity, or does not inherit from the class of its entity's parent.
    public convenience init(
        name: String, managedObjectModel: ManagedObjectModel, storeDescription: PersistentStoreDescription,
        classes: [ManagedObject.Type] = [], recorder: Recorder = .shared, sqlDebug: SQLDebugLog = .shared
    ) throws(StoreError) {
        try self.init(
            name: name, managedObjectModel: managedObjectModel, storeDescriptions: [storeDescription],
            classes: classes, recorder: recorder, sqlDebug: sqlDebug)
    }

    /// Opens several stores, in order, and creates those that do not exist.
    ///
    /// - Throws: The errors of ``init(name:managedObjectModel:storeDescription:classes:recorder:sqlDebug:)``, for the first store that
    ///   cannot be opened.
    public init(
        name: String, managedObjectModel: ManagedObjectModel, storeDescriptions: [PersistentStoreDescription],
        classes: [ManagedObject.Type] = [], recorder: Recorder = .shared, sqlDebug: SQLDebugLog = .shared
    ) throws(StoreError) {
        self.name = name
        self.managedObjectModel = managedObjectModel
        persistentStoreCoordinator = try PersistentStoreCoordinator(
            managedObjectModel: managedObjectModel, classes: classes, recorder: recorder, sqlDebug: sqlDebug)
        for description in storeDescriptions { try persistentStoreCoordinator.addPersistentStore(with: description) }
        viewContext = ManagedObjectContext(persistentStoreCoordinator, .mainQueue, name: "viewContext")
    }

    /// Opens a store with the default settings; without a URL, `NAME.sqlite` in ``defaultDirectoryURL()``.
    ///
    /// - Throws: The errors of ``init(name:managedObjectModel:storeDescription:classes:recorder:sqlDebug:)``.
    public convenience init(
        name: String, managedObjectModel: ManagedObjectModel, storeURL: URL? = nil, classes: [ManagedObject.Type] = [],
        recorder: Recorder = .shared, sqlDebug: SQLDebugLog = .shared
    ) throws(StoreError) {
        let url = storeURL ?? Self.defaultDirectoryURL().appendingPathComponent("\(name).sqlite")
        try self.init(
            name: name, managedObjectModel: managedObjectModel, storeDescription: PersistentStoreDescription(url: url),
            classes: classes, recorder: recorder, sqlDebug: sqlDebug)
    }

    /// The folder of stores without a URL: `$XDG_DATA_HOME`, or else `~/.local/share`.
    ///
    /// It must exist.
    public static func defaultDirectoryURL() -> URL {
        if let path = ProcessInfo.processInfo.environment["XDG_DATA_HOME"], !path.isEmpty {
            return URL(fileURLWithPath: path, isDirectory: true)
        }
        return FileManager.default.homeDirectoryForCurrentUser.appendingPathComponent(".local/share", isDirectory: true)
    }

    /// Creates a context with a queue of its own.
    public func newBackgroundContext() -> ManagedObjectContext {
        let number = contexts.add(1, ordering: .relaxed).newValue
        return ManagedObjectContext(persistentStoreCoordinator, .privateQueue, name: "background \(number)")
    }

    /// Discards all rows in memory, as if the program had just started.
    ///
    /// All objects of all contexts become faults, and the stores' row caches are emptied. Unsaved changes and new
    /// objects are kept. Meant for tests and benchmarks: filling a store through a container leaves every row in its
    /// cache, and faults that are round trips in the program then cost none.
    ///
    /// Waits for the queues of all contexts, including the main queue.
    public func forgetRows() {
        persistentStoreCoordinator.forgetRows()
    }

    /// Closes the stores, although contexts may still exist.
    package func close() throws(StoreError) {
        for store in persistentStoreCoordinator.persistentStores { try persistentStoreCoordinator.remove(store) }
    }

    /// Runs work in a new context, on its queue.
    ///
    /// Unsaved changes are lost.
    ///
    /// - Throws: The errors of the work.
    public func performBackgroundTask<Result: Sendable, Failure: Error>(
        _ work: @escaping @Sendable (ManagedObjectContext) throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        let context = newBackgroundContext()
        return try await context.perform { () throws(Failure) -> Result in
            defer { context.reset() }
            return try work(context)
        }
    }
}
