import CSQLite
package import FaultlineRecorder
package import Foundation

/// Connections to the file of a store.
extension StoreOpening {
    /// Reads the metadata of a store without opening it.
    static func metadata(
        _ type: PersistentStore.StoreType, at url: URL
    ) throws(StoreError) -> (uuid: String, StoreMetadata) {
        try setup(type, forReading: url).readMetadata()
    }

    /// Opens the file of a store for reading alone.
    package static func setup(
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

    package static func connect(
        _ description: PersistentStoreDescription, recorder: Recorder, log: SQLDebugLog
    ) throws(StoreError) -> SQLSession {
        SQLSession(
            try SQLConnection(
                path: description.path, opening: description.isInMemory ? SQLConnection.memory : nil,
                isReadOnly: description.isReadOnly && !description.isInMemory, busyTimeout: description.busyTimeout),
            recorder: recorder, log: log)
    }

    /// Opens another connection to an open store.
    static func session(
        _ description: PersistentStoreDescription, recorder: Recorder, log: SQLDebugLog
    ) throws(StoreError) -> SQLSession {
        let session = try connect(description, recorder: recorder, log: log)
        try StoreSetup(session, path: description.path).pragma(pageCache(description))
        return session
    }

    package static func pageCache(_ description: PersistentStoreDescription) -> String {
        // Negative values are KiB.
        "cache_size=-\(max(description.pageCacheLimit, 1 << 16) / 1024)"
    }
}
