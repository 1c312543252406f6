public import Foundation

/// Where a store is and how it is opened.
public struct PersistentStoreDescription: Sendable {
    /// How hard a save makes sure that its data is on the disk (`PRAGMA synchronous`).
    public enum Synchronization: Int, Sendable {
        /// Leave it to the system: a crash of the machine can damage the store.
        case off
        /// Sync at checkpoints: a crash of the machine can lose the last saves, not damage the store.
        case normal
        /// Sync at every save.
        case full
    }

    /// The store's file.
    ///
    /// Its folder must exist. A store in memory has none, and one of type ``PersistentStore/StoreType/sqlite`` at
    /// `/dev/null` is kept in memory as well.
    public var url: URL
    /// How the store keeps its data.
    ///
    /// Default: ``PersistentStore/StoreType/sqlite``.
    public var type: PersistentStore.StoreType
    /// The configuration of the model whose entities the store has.
    ///
    /// Default: `nil`, all entities. With an entity those belong to it that inherit from it. What a relationship of theirs
    /// leads to must belong to the configuration as well.
    public var configuration: String?
    /// Whether the store is opened for reading only.
    ///
    /// Default: no.
    public var isReadOnly = false
    /// How long to wait for another connection's lock, in seconds.
    ///
    /// Default: 5.
    public var busyTimeout = 5.0
    /// From how many bytes on a value that allows external storage goes to a file of its own.
    ///
    /// Default: 100 KiB. Stores of other types than ``PersistentStore/StoreType/sqlite`` keep all values themselves.
    ///
    /// SQLite reads values of up to about this size faster than a file system reads files
    /// (https://www.sqlite.org/intern-v-extern-blob.html).
    public var externalStorageThreshold = 100 * 1024
    /// Bytes of rows that are kept in memory although no object uses them.
    ///
    /// Default: 16 MiB.
    public var rowCacheLimit = 16 << 20
    /// How many connections to the store there are at most, one of which writes.
    ///
    /// Default: 8.
    ///
    /// One is opened, and another whenever a context would have to wait for those that are there, so that fetches of
    /// several contexts, and fetches beside a save, do not wait for each other. With 1 everything goes through one
    /// connection, as it does without a write-ahead log.
    public var connectionPoolMaxSize = 8
    /// Bytes of SQLite's page cache, of each connection.
    ///
    /// Default: 32 MiB; pages are taken as they are needed.
    public var pageCacheLimit = 32 << 20
    /// Whether a store of Core Data's with persistent history is written although the history will not tell of it.
    ///
    /// Default: no, and saves are refused.
    ///
    /// Who reads the history, such as an extension of the app or a mirror in CloudKit, misses these changes.
    public var ignoresPersistentHistory = false
    /// Whether SQLite looks at the tables and indexes once the store is open (`ANALYZE`), so that it knows by which index
    /// it finds fewest rows; Core Data's `NSSQLiteAnalyzeOption`.
    ///
    /// Default: no.
    ///
    /// It goes through every index, which opening waits for: worth it where rows have become many times as many or as few
    /// as they were when it was done last (https://www.sqlite.org/lang_analyze.html). Stores that are opened read-only
    /// stay as they are; so does one that others write for longer than ``busyTimeout``.
    public var analyzesWhenAdded = false
    /// Default: ``Synchronization/full``, as SQLite's.
    public var synchronization = Synchronization.full

    public init(url: URL, type: PersistentStore.StoreType = .sqlite) {
        self.url = url
        self.type = type
    }

    /// A store at `/dev/null`: as long as it is given no other URL it is kept in memory.
    public init() {
        self.init(url: Self.nowhere)
    }

    private static let nowhere = URL(fileURLWithPath: "/dev/null")

    /// Whether the database that is worked with is in memory.
    var isInMemory: Bool { type != .sqlite || url.path == Self.nowhere.path }

    /// Whether there is a file.
    var isInFile: Bool { type == .binary || !isInMemory }

    /// Whether the store is in the file with a path that has no links.
    func isIn(_ path: String) -> Bool { isInFile && url.resolvingSymlinksInPath().path == path }

    /// What the store is called in sentences and logs.
    var path: String { type == .inMemory && url.path == Self.nowhere.path ? SQLConnection.memory : url.path }
}
