import CSQLite
import FaultlineRecorder
public import Foundation

extension PersistentStoreCoordinator {
    /// Deletes the contents of a store, and the files of its large values.
    ///
    /// A store that this coordinator has open is closed first, as ``remove(_:)`` does. The file of an SQLite store stays,
    /// as an empty database that a new store can be created in, because other programs may have it open: they find no
    /// tables from then on. The file of a binary store is removed. If there is no file, nothing happens.
    ///
    /// - Complexity: O(size of the store) if it has large values, whose files are looked for in all its tables.
    /// - Throws: ``StoreError`` if the file is not a store, which is then left as it is; if other connections use it for
    ///   longer than the default ``PersistentStoreDescription/busyTimeout``; if it cannot be written; and for a store in
    ///   memory, which has no file.
    public func destroyPersistentStore(
        at url: URL, type: PersistentStore.StoreType = .sqlite
    ) throws(StoreError) {
        guard type != .inMemory else {
            throw StoreError(
                .invalidRequest,
                "A store in memory has no file to destroy; remove it from its coordinator, which frees its memory.")
        }
        let path = url.resolvingSymlinksInPath().path
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else { return }
        guard !isFolder.boolValue else {
            throw StoreError.sqlite(SQLITE_CANTOPEN, doing: "Destroying the store", path: path, detail: "")
        }
        if let store = persistentStore(for: url), store.type != type {
            throw StoreError(
                .invalidRequest,
                "'\(url.path)' is open as a store of type \(store.type.rawValue), not \(type.rawValue); pass that type."
            )
        }
        let erasure = try StoreErasure(url, path: path, type: type)
        if let store = persistentStore(for: url) { try remove(store) }
        try erasure.run()
    }
}

/// Erases a store's file.
private struct StoreErasure {
    let path: String
    let type: PersistentStore.StoreType
    /// The folder of large values.
    let folder: URL
    /// Whether the database has no tables.
    let isEmpty: Bool

    static let doing = "Destroying the store"

    /// Checks that the file is a store.
    init(_ url: URL, path: String, type: PersistentStore.StoreType) throws(StoreError) {
        self.path = path
        self.type = type
        folder = PersistentStore.supportFolder(of: url).appendingPathComponent("_EXTERNAL_DATA", isDirectory: true)
        if type == .sqlite {
            let connection = try SQLConnection(
                path: path, isReadOnly: true, busyTimeout: PersistentStoreDescription().busyTimeout)
            let setup = StoreSetup(
                SQLSession(connection, recorder: .shared, log: .shared), path: path, doing: Self.doing)
            isEmpty = try !setup.hasAnyTable()
            if isEmpty { return }
        } else {
            isEmpty = false
        }
        // Throws if the file is something else.
        _ = try StoreOpening.metadata(type, at: url)
    }

    func run() throws(StoreError) {
        guard !isEmpty else { return }
        guard type == .sqlite else {
            guard unlink(path) == 0 || errno == ENOENT else {
                throw StoreError.sqlite(SQLITE_READONLY, doing: Self.doing, path: path, detail: "")
            }
            return
        }
        let connection = try SQLConnection(
            path: path, isReadOnly: false, busyTimeout: PersistentStoreDescription().busyTimeout)
        defer { connection.close() }
        let session = SQLSession(connection, recorder: .shared, log: .shared)
        let files = try externalFiles(StoreSetup(session, path: path, doing: Self.doing))
        let result = csqlite_reset_on_vacuum(connection.handle, 1)
        guard result == SQLITE_OK else { throw connection.error(result, doing: Self.doing) }
        defer { _ = csqlite_reset_on_vacuum(connection.handle, 0) }
        try session.run("VACUUM", doing: Self.doing)
        // Only now does nothing refer to them.
        ExternalData.remove(files)
        // Only removed if they are empty, because another store can have its files there.
        for folder in [folder, folder.deletingLastPathComponent()] { rmdir(folder.path) }
    }

    /// The files to which large values refer, in any column of any table.
    private func externalFiles(_ setup: StoreSetup) throws(StoreError) -> [URL] {
        guard FileManager.default.fileExists(atPath: folder.path) else { return [] }
        let columns = try setup.read(
            "SELECT m.name, c.name FROM SQLITE_MASTER m, pragma_table_info(m.name) c WHERE m.type = 'table' AND m.name LIKE 'Z%' AND c.type = 'BLOB'"
        ) { row in (0...1).map { String(cString: sqlite3_column_text(row, $0)) } }
        var files: [URL] = []
        for column in columns {
            let (table, name) = (StoreSetup.quoted(column[0]), StoreSetup.quoted(column[1]))
            // A byte 2, the text of a UUID, and a zero byte.
            files += try setup.read(
                "SELECT CAST(substr(\(name), 2, 36) AS TEXT) FROM \(table) WHERE typeof(\(name)) = 'blob' AND length(\(name)) = 38 AND substr(\(name), 1, 1) = x'02'"
            ) { row in
                String(cString: sqlite3_column_text(row, 0))
            }.filter { UUID(uuidString: $0) != nil }.map { folder.appendingPathComponent($0) }
        }
        return files
    }
}
