import CSQLite
import Foundation

/// The files of a store: the database, its journals, and the folder of its large values.
struct StoreFiles {
    /// The database itself, also if the store is opened by a link.
    let url: URL
    /// The folder beside the file or the link by which the store is opened.
    let support: URL

    init(_ url: URL) {
        self.url = url.resolvingSymlinksInPath()
        support = PersistentStore.supportFolder(of: url)
    }

    /// The folder of the files of large values.
    var external: URL { support.appendingPathComponent("_EXTERNAL_DATA", isDirectory: true) }

    /// Removes all files, for a store that is not needed any more.
    func remove() {
        for suffix in ["", "-wal", "-shm", "-journal"] { unlink(url.path + suffix) }
        try? FileManager.default.removeItem(at: support)
    }

    /// The files of large values.
    var externalFiles: [URL] {
        ((try? FileManager.default.contentsOfDirectory(atPath: external.path)) ?? []).map {
            external.appendingPathComponent($0)
        }
    }

    /// Copies a store, with its large values.
    ///
    /// SQLite copies the database. Opening and closing its file in another way would release the locks that this process has on it
    /// (https://www.sqlite.org/howtocorrupt.html#_posix_advisory_locks_canceled_by_a_separate_thread_doing_close_).
    ///
    /// - Parameter connection: A connection to the store that is in no transaction.
    /// - Throws: ``StoreError`` if there is a file already, or if it cannot be written.
    func copy(_ connection: SQLConnection, to copy: URL) throws(StoreError) {
        let other = try checked(copy)
        do {
            let target = try SQLConnection(path: copy.path, isReadOnly: false, busyTimeout: 0)
            defer { target.close() }
            try target.copyContents(of: connection, doing: "Copying the store")
            try copySupport(to: other)
        } catch {
            other.remove()
            throw Self.cannotCopy(url, copy, error)
        }
    }

    private func checked(_ copy: URL) throws(StoreError) -> StoreFiles {
        let other = StoreFiles(copy)
        for file in [copy, other.support] where FileManager.default.fileExists(atPath: file.path) {
            throw StoreError(
                .cannotOpen, "The copy of '\(url.path)' would replace '\(file.path)'; move that away first.")
        }
        return other
    }

    private func copySupport(to other: StoreFiles) throws {
        guard FileManager.default.fileExists(atPath: support.path) else { return }
        try FileManager.default.copyItem(at: support, to: other.support)
    }

    private static func cannotCopy(_ url: URL, _ copy: URL, _ error: any Error) -> StoreError {
        StoreError(
            .cannotOpen,
            "'\(url.path)' cannot be copied to '\(copy.path)' (\(error)); free some space, or make the folder writable.",
            cause: error)
    }

    static func size(of file: URL) -> UInt64 {
        (try? FileManager.default.attributesOfItem(atPath: file.resolvingSymlinksInPath().path)[.size] as? UInt64) ?? 0
    }

    /// Checks that a folder's disk has room for a migration.
    ///
    /// - Throws: ``StoreError`` if it does not.
    static func checkSpace(_ bytes: UInt64, in folder: URL, path: String) throws(StoreError) {
        var status = statvfs()
        guard statvfs(folder.path, &status) == 0 else { return }
        let free = UInt64(status.f_bavail) * UInt64(status.f_frsize)
        guard free < bytes else { return }
        func megabytes(_ bytes: UInt64) -> UInt64 { (bytes + 999_999) / 1_000_000 }
        throw StoreError(
            .full,
            "Migrating '\(path)' needs up to \(megabytes(bytes)) MB of free space in its folder, which has \(megabytes(free)) MB; free some space and try again."
        )
    }

    /// Writes a file's contents, or a folder's entries, to the disk.
    static func synchronize(_ url: URL) throws {
        let descriptor = open(url.path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    }
}

extension SQLConnection {
    /// Replaces the contents of the database by those of another one, in one transaction.
    ///
    /// - Parameter source: A connection that is in no transaction, as this one must be.
    /// - Throws: ``StoreError`` if it cannot be done; the database is then as it was.
    func copyContents(of source: SQLConnection, doing: String) throws(StoreError) {
        guard let backup = sqlite3_backup_init(handle, "main", source.handle, "main") else {
            throw error(sqlite3_errcode(handle), doing: doing)
        }
        let end = ContinuousClock.now + .seconds(busyTimeout)
        var result = sqlite3_backup_step(backup, -1)
        // Others may still be reading.
        while result == SQLITE_BUSY || result == SQLITE_LOCKED, ContinuousClock.now < end {
            sqlite3_sleep(5)
            result = sqlite3_backup_step(backup, -1)
        }
        sqlite3_backup_finish(backup)
        guard result == SQLITE_DONE else { throw error(result, doing: doing) }
    }
}
