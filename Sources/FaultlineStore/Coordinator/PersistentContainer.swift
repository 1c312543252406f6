public import FaultlineModel
public import FaultlineRecorder
public import Foundation
import Synchronization

/// A store with its contexts: the way in.
///
///     let container = try PersistentContainer(
///         name: "Groceries", managedObjectModel: model, storeURL: url, classes: [Item.self, Category.self])
///     let items = try container.viewContext.fetch(FetchRequest<Item>())
public final class PersistentContainer: Sendable {
    public let name: String
    public let managedObjectModel: ManagedObjectModel
    public let persistentStoreCoordinator: PersistentStoreCoordinator
    /// The context of the main queue.
    public let viewContext: ManagedObjectContext
    /// The store's description, as it was opened.
    public var persistentStoreDescription: PersistentStoreDescription { persistentStoreCoordinator.store.description }

    private let contexts = Atomic<Int>(0)

    /// Opens a store, and makes it if it is not there.
    ///
    /// - Parameters:
    ///   - classes: the classes of objects; an entity without one has its parent's, or else ``ManagedObject``.
    ///   - recorder: takes the events of everything that the store does.
    ///   - sqlDebug: takes the log of statements.
    /// - Throws: ``StoreError`` if the file cannot be opened, is no store, or was made with another model; also if a
    ///   class has no entity, or does not inherit from the class of its entity's parent.
    public init(
        name: String, managedObjectModel: ManagedObjectModel, storeDescription: PersistentStoreDescription,
        classes: [ManagedObject.Type] = [], recorder: Recorder = .shared, sqlDebug: SQLDebugLog = .shared
    ) throws(StoreError) {
        self.name = name
        self.managedObjectModel = managedObjectModel
        var byName: [String: ManagedObject.Type] = [:]
        for type in classes {
            guard managedObjectModel.entity(named: type.entityName) != nil else {
                throw StoreError(
                    .unknownEntity,
                    "The class \(type) is for the entity '\(type.entityName)', which the model does not have; correct its entityName."
                )
            }
            byName[type.entityName] = type
        }
        try Self.check(byName, managedObjectModel)
        let store = try SQLStore(
            storeDescription, model: managedObjectModel, classes: byName, recorder: recorder, log: sqlDebug)
        persistentStoreCoordinator = PersistentStoreCoordinator(store, model: managedObjectModel)
        viewContext = ManagedObjectContext(persistentStoreCoordinator, .mainQueue, name: "viewContext")
    }

    /// Objects of a subentity are fetched as objects of its parents, so their class must be one of those as well.
    private static func check(
        _ classes: [String: ManagedObject.Type], _ model: ManagedObjectModel
    ) throws(StoreError) {
        for (name, type) in classes.sorted(by: { $0.key < $1.key }) {
            var next = model.entity(named: name)?.parent
            while let parent = next {
                if let parentClass = classes[parent], !parentClass.isInherited(by: type) {
                    throw StoreError(
                        .invalidClass,
                        "The class \(type) of the entity '\(name)' does not inherit from \(parentClass), the class of its parent '\(parent)'; let it inherit, or leave out one of the two."
                    )
                }
                next = model.entity(named: parent)?.parent
            }
        }
    }

    /// Opens a store with the default settings; without a URL, `NAME.sqlite` in ``defaultDirectoryURL()``.
    ///
    /// - Throws: as ``init(name:managedObjectModel:storeDescription:classes:recorder:sqlDebug:)``.
    public convenience init(
        name: String, managedObjectModel: ManagedObjectModel, storeURL: URL? = nil, classes: [ManagedObject.Type] = [],
        recorder: Recorder = .shared, sqlDebug: SQLDebugLog = .shared
    ) throws(StoreError) {
        let url = storeURL ?? Self.defaultDirectoryURL().appendingPathComponent("\(name).sqlite")
        try self.init(
            name: name, managedObjectModel: managedObjectModel, storeDescription: PersistentStoreDescription(url: url),
            classes: classes, recorder: recorder, sqlDebug: sqlDebug)
    }

    /// Where stores are kept that were given no URL: `$XDG_DATA_HOME`, or else `~/.local/share`.
    ///
    /// It must exist.
    public static func defaultDirectoryURL() -> URL {
        if let path = ProcessInfo.processInfo.environment["XDG_DATA_HOME"], !path.isEmpty {
            return URL(fileURLWithPath: path, isDirectory: true)
        }
        return FileManager.default.homeDirectoryForCurrentUser.appendingPathComponent(".local/share", isDirectory: true)
    }

    /// A context with a queue of its own.
    public func newBackgroundContext() -> ManagedObjectContext {
        let number = contexts.add(1, ordering: .relaxed).newValue
        return ManagedObjectContext(persistentStoreCoordinator, .privateQueue, name: "background \(number)")
    }

    /// Does work in a new context on its queue.
    ///
    /// What the work does not save is lost.
    ///
    /// - Throws: what the work throws.
    public func performBackgroundTask<Result: Sendable>(
        _ work: @escaping @Sendable (ManagedObjectContext) throws -> Result
    ) async throws -> Result {
        let context = newBackgroundContext()
        return try await context.perform {
            defer { context.reset() }
            return try work(context)
        }
    }
}
