public import FaultlineModel
public import Foundation

/// The location of a store, and the settings for opening it.
public struct PersistentStoreDescription: Sendable {
    /// How strictly a save ensures that its data is on disk (`PRAGMA synchronous`).
    public enum Synchronization: Int, Sendable {
        /// Leave it to the operating system: a crash of the machine can damage the store.
        case off
        /// Sync at checkpoints: a crash of the machine can lose the last saves, but not damage the store.
        case normal
        /// Sync at every save.
        case full
    }

    /// The store's file.
    ///
    /// Its folder must exist. A store in memory has no file; neither has one of type
    /// ``PersistentStore/StoreType/sqlite`` at `/dev/null`, which is in memory too.
    public var url: URL
    /// The format of the store.
    ///
    /// Default: ``PersistentStore/StoreType/sqlite``.
    public var type: PersistentStore.StoreType
    /// The configuration of the model whose entities the store contains.
    ///
    /// Default: `nil`, all entities. Subentities belong to their entity's configuration. The destinations of its
    /// relationships must belong to the configuration too.
    public var configuration: String?
    /// Whether to open the store read-only.
    ///
    /// Default: no.
    public var isReadOnly = false
    /// How long to wait for another connection's lock, in seconds.
    ///
    /// Default: 5.
    public var busyTimeout = 5.0
    /// The minimum size in bytes at which a value that allows external storage is stored in its own file.
    ///
    /// Default: 100 KiB. Only stores of type ``PersistentStore/StoreType/sqlite`` use such files.
    ///
    /// Up to about this size, SQLite reads values faster than a file system reads files
    /// (https://www.sqlite.org/intern-v-extern-blob.html).
    public var externalStorageThreshold = 100 * 1024
    /// The maximum bytes of rows to keep in memory although no object uses them.
    ///
    /// Default: 16 MiB.
    public var rowCacheLimit = 16 << 20
    /// The maximum number of connections to the store, including the one that writes.
    ///
    /// Default: 8.
    ///
    /// The store opens one connection, and another one whenever a context would have to wait. Fetches of several
    /// contexts, and fetches during a save, then do not wait for each other. With 1, as without a write-ahead log,
    /// everything uses one connection.
    public var connectionPoolMaxSize = 8
    /// The size of SQLite's page cache in bytes, for each connection.
    ///
    /// Default: 32 MiB; memory is allocated as needed.
    public var pageCacheLimit = 32 << 20
    /// Whether saves and batch requests are recorded in the store's persistent history, and the history can be read.
    ///
    /// Default: no. Corresponds to Core Data's `NSPersistentHistoryTrackingKey`. Opening the store creates the tables of
    /// the history if they are missing. A save then writes a row for each changed object in addition, in the same
    /// transaction. Once a store has a history, saves need this option or ``ignoresPersistentHistory``.
    public var tracksPersistentHistory = false
    /// Whether to write to a store with persistent history without recording the changes there.
    ///
    /// Default: no; unless ``tracksPersistentHistory`` is set, saves to a store with history throw an error.
    ///
    /// Readers of the history, such as an app extension or a CloudKit mirror, miss these changes.
    public var ignoresPersistentHistory = false
    /// Whether to migrate a store of an older version of the model when it is opened.
    ///
    /// Default: yes, as in Core Data. Stores that are opened read-only are never migrated. If no, opening such a store throws an
    /// error that lists the differences.
    public var shouldMigrateStoreAutomatically = true
    /// Whether an automatic migration may infer how older objects become newer ones.
    ///
    /// Default: yes, as in Core Data. What can be inferred: `MappingModel.inferredMappingModel(from:to:)`.
    public var shouldInferMappingModelAutomatically = true
    /// Whether an automatic migration may lead to a version that the store had before, or that ``sourceModels`` lists before the
    /// store's.
    ///
    /// Default: no; opening the store throws an error, because a newer program probably wrote it, and what the older version lacks
    /// would be lost. Set it if a newer program has the model of an older one again. A mapping model that fits leads back in any
    /// case.
    public var allowsEarlierVersions = false
    /// Whether a migration in place leaves removed columns and tables behind, for
    /// `PersistentStoreCoordinator.finishDeferredLightweightMigration()` to remove later.
    ///
    /// Default: no. Corresponds to Core Data's `NSPersistentStoreDeferredLightweightMigrationOptionKey`. To remove a column, SQLite
    /// rewrites all rows of its table, so an opening that only removes attributes is much shorter without it. While work is left,
    /// the store's metadata has `PersistentStoreCoordinator.deferredLightweightMigrationKey`. A later migration without this
    /// option does the work, too.
    public var defersLightweightMigration = false
    /// The mapping models that an automatic migration looks through before it infers anything.
    ///
    /// Default: none. One that has a version hash fits only the entities with that hash. If several fit, or if one leads to the
    /// program's version from a version that is not known, opening the store throws an error. With ``sourceModels``, mapping models
    /// can lead from version to version.
    public var mappingModels: [MappingModel] = []
    /// The older versions of the model, from the oldest to the newest.
    ///
    /// Default: none. A migration that cannot be done in one step goes through them, in the fewest steps for which there are mapping
    /// models or which can be inferred. An inferred step never passes over a mapping model. Several steps change a copy of the
    /// store, which replaces it at the end, so an older store becomes one of the program's version or stays as it was.
    ///
    /// A store keeps the model that it was written with, so only the versions between that and the program's are needed. If a store
    /// of Apple's framework has no readable copy, its version is the first one here, or beside the model in its `.xcdatamodeld`,
    /// that has the store's tables.
    public var sourceModels: [ManagedObjectModel] = []
    /// Receives the progress of an automatic migration, and can throw an error to cancel it.
    ///
    /// Default: none. Called on the thread that opens the store: after each statement of a migration in SQL, and after each batch
    /// of objects of another. If it throws, the store is left as it was, and opening it throws a ``StoreError`` with the code
    /// `migrationCanceled` whose cause is the error. A migration in stages keeps the stages that were completed.
    ///
    ///     description.migrationObserver = { progress in
    ///         try Task.checkCancellation()
    ///         print("\(progress.entity): \(Int(100 * progress.fractionCompleted)) %")
    ///     }
    public var migrationObserver: (@Sendable (MigrationProgress) throws -> Void)?
    /// The settings whose types belong to migrations, which are a layer above this one.
    package var migrationSettings: (any Sendable)?
    /// Whether to run `ANALYZE` when the store is opened, which helps SQLite choose the best index.
    ///
    /// Corresponds to Core Data's `NSSQLiteAnalyzeOption`. Default: no.
    ///
    /// Opening then waits for a scan of every index. It is worthwhile if tables have grown or shrunk many times over
    /// since the last `ANALYZE` (https://www.sqlite.org/lang_analyze.html). Skipped for stores that are opened
    /// read-only, and if other connections write for longer than ``busyTimeout``.
    public var analyzesWhenAdded = false
    /// How strictly a save ensures that its data is on disk.
    ///
    /// Default: ``Synchronization/full``, as in SQLite.
    public var synchronization = Synchronization.full

    /// Creates a description of a store at a URL, with the default settings.
    public init(url: URL, type: PersistentStore.StoreType = .sqlite) {
        self.url = url
        self.type = type
    }

    /// Creates a description of a store at `/dev/null`, which is in memory unless another URL is set.
    public init() {
        self.init(url: Self.nullDevice)
    }

    private static let nullDevice = URL(fileURLWithPath: "/dev/null")

    /// Whether the open database is in memory.
    package var isInMemory: Bool { type != .sqlite || url.path == Self.nullDevice.path }

    /// Whether the store has a file.
    package var isInFile: Bool { type == .binary || !isInMemory }

    /// Whether the store is in the file at a path without symbolic links.
    func isIn(_ path: String) -> Bool { isInFile && url.resolvingSymlinksInPath().path == path }

    /// The store's name in messages and logs.
    package var path: String { type == .inMemory && url.path == Self.nullDevice.path ? SQLConnection.memory : url.path }
}
