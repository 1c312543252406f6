import CSQLite
import FaultlineRecorder
import Foundation

/// Connections to the file of a store.
extension StoreOpening {
    /// Reads the metadata of a store without opening it.
    static func metadata(
        _ type: PersistentStore.StoreType, at url: URL
    ) throws(StoreError) -> (uuid: String, StoreMetadata) {
        try setup(type, forReading: url).readMetadata()
    }

    /// Opens the file of a store for reading alone.
    static func setup(
        _ type: PersistentStore.StoreType, forReading url: URL
    ) throws(StoreError) -> StoreSetup {
        // The log is beside the file itself, not beside a link to it.
        let path = url.resolvingSymlinksInPath().path
        let connection: SQLConnection
        switch type {
        case .inMemory:
            throw StoreError(
                .invalidRequest,
                "An in-memory store has no file to read metadata from; ask the coordinator that opened it.")
        case .sqlite:
            // Opening a file as immutable writes nothing (https://www.sqlite.org/uri.html#uriimmutable). Without a
            // write-ahead log, no one is writing to it.
            func size(_ suffix: String) -> Int {
                (try? FileManager.default.attributesOfItem(atPath: path + suffix)[.size] as? Int) ?? 0
            }
            // A journal belongs to a transaction that was interrupted, which only a connection that may write can undo.
            let wasInterrupted = size("-journal") > 0
            let isAtRest = size("-wal") == 0 && !wasInterrupted && FileManager.default.fileExists(atPath: path)
            connection = try SQLConnection(
                path: path, opening: isAtRest ? URL(fileURLWithPath: path).absoluteString + "?immutable=1" : nil,
                isReadOnly: !wasInterrupted, busyTimeout: PersistentStoreDescription().busyTimeout)
        case .binary:
            connection = try SQLConnection(
                path: path, opening: SQLConnection.memory, isReadOnly: false, busyTimeout: 0)
            guard try BinaryStoreFile(PersistentStoreDescription(url: url, type: type)).load(into: connection) else {
                throw StoreError.sqlite(SQLITE_CANTOPEN, doing: "Reading metadata", path: path, detail: "")
            }
        }
        let setup = StoreSetup(SQLSession(connection, recorder: .shared, log: .shared), path: path)
        guard try setup.hasTable("Z_METADATA") else { throw noStore(path) }
        return setup
    }

    static func connect(
        _ description: PersistentStoreDescription, recorder: Recorder, log: SQLDebugLog
    ) throws(StoreError) -> SQLSession {
        SQLSession(
            try SQLConnection(
                path: description.path, opening: description.isInMemory ? SQLConnection.memory : nil,
                isReadOnly: description.isReadOnly && !description.isInMemory, busyTimeout: description.busyTimeout),
            recorder: recorder, log: log)
    }

    /// Opens a connection to a store that nobody else uses, and locks it, for a migration.
    ///
    /// Only a connection that is alone can leave the write-ahead log, whose contents are moved to the store. Two that wait for each
    /// other would wait forever, so each attempt closes its own.
    ///
    /// - Parameters:
    ///   - writer: A connection to the store in a file that the first attempt uses; `nil` to open one.
    ///   - lock: Takes a lock that keeps others from writing, or none.
    /// - Throws: ``StoreError`` with the code `busy` if others use the store for longer than the description's `busyTimeout`.
    static func soleSession(
        _ description: PersistentStoreDescription, _ recorder: Recorder, _ log: SQLDebugLog,
        trying writer: SQLSession? = nil, lock: (StoreSetup) throws(StoreError) -> Void
    ) throws(StoreError) -> StoreSetup {
        let end = ContinuousClock.now + .seconds(description.busyTimeout)
        var first = writer
        while true {
            let session = if let first { first } else { try connect(description, recorder: recorder, log: log) }
            defer { first = nil }
            let setup = StoreSetup(session, path: description.path, doing: StoreMigration.doing)
            do throws(StoreError) {
                // Opening the store has turned them on, and a migration's statements must not run a program's triggers again.
                if first != nil { try setup.pragma("recursive_triggers=0") }
                if !description.isInMemory { try setup.pragma("journal_mode=delete") }
                try setup.pragma("synchronous=\(description.synchronization.rawValue)")
                try lock(setup)
                // Another program that opened the store may have returned to the log before the lock was taken. With a log,
                // the lock would let others read.
                guard !session.connection.hasWriteAheadLog else {
                    throw session.connection.error(SQLITE_BUSY, doing: StoreMigration.doing)
                }
                return setup
            } catch {
                session.connection.close()
                guard error.code == .busy, ContinuousClock.now < end else { throw error }
                sqlite3_sleep(.random(in: 1...20))
            }
        }
    }

    /// Opens another connection to an open store.
    static func session(
        _ description: PersistentStoreDescription, recorder: Recorder, log: SQLDebugLog
    ) throws(StoreError) -> SQLSession {
        let session = try connect(description, recorder: recorder, log: log)
        try StoreSetup(session, path: description.path).pragma(pageCache(description))
        return session
    }

    static func pageCache(_ description: PersistentStoreDescription) -> String {
        // Negative values are KiB.
        "cache_size=-\(max(description.pageCacheLimit, 1 << 16) / 1024)"
    }
}
