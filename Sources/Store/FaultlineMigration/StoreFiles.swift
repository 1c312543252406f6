import CSQLite
import CStore
import FaultlineStore
import Foundation

/// The files of a store: the database, its journals, and the folder of its large values.
struct StoreFiles {
    /// The database itself, even if the store is opened by a link.
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
        // The database is removed last, because the leftovers of a killed program are found by its name.
        try? FileManager.default.removeItem(at: support)
        for suffix in ["-wal", "-shm", "-journal", ""] { unlink(url.path + suffix) }
    }

    /// The files of large values.
    var externalFiles: [URL] { Self.names(in: external).map { external.appendingPathComponent($0) } }

    /// Copies a store, with its large values.
    ///
    /// SQLite copies the database. Opening and closing its file in another way would release the locks that this process has on it
    /// (https://www.sqlite.org/howtocorrupt.html#_posix_advisory_locks_canceled_by_a_separate_thread_doing_close_).
    ///
    /// - Parameter connection: A connection to the store that is in no transaction.
    /// - Throws: `StoreError` if there is a file already, or if it cannot be written.
    func copy(_ connection: SQLConnection, to copy: URL) throws(StoreError) {
        let other = try checked(copy)
        do {
            try write(connection, to: other)
        } catch {
            other.remove()
            throw Self.cannotCopy(url, copy, error)
        }
    }

    private func write(_ connection: SQLConnection, to other: StoreFiles) throws {
        let target = try SQLConnection(path: other.url.path, isReadOnly: false, busyTimeout: 0)
        defer { target.close() }
        try target.copyContents(of: connection, doing: "Copying the store")
        if FileManager.default.fileExists(atPath: support.path) {
            try FileManager.default.copyItem(at: support, to: other.support)
        }
    }

    /// Copies a store that is about to be migrated.
    ///
    /// The copy gets its name only when it is complete and on the disk, even if the program is killed. The connection holds the
    /// store's lock, so no other migration can be making a copy, and the leftovers of a killed one are removed.
    ///
    /// - Parameter connection: A connection to the store that is in no transaction.
    /// - Returns: The files of the copy, to be removed if the migration fails.
    /// - Throws: `StoreError` if there is a file already, or if it cannot be written.
    func backUp(_ connection: SQLConnection, to backup: URL) throws(StoreError) -> StoreFiles {
        Self.removeTemporaries(for: backup)
        let kept = try checked(backup)
        let made = StoreFiles(Self.temporary(for: backup))
        do {
            try write(connection, to: made)
            try made.rename(to: kept)
            return kept
        } catch {
            made.remove()
            throw Self.cannotCopy(url, backup, error)
        }
    }

    private func checked(_ copy: URL) throws(StoreError) -> StoreFiles {
        let other = StoreFiles(copy)
        for file in [copy, other.support] where Self.exists(file) {
            throw StoreError(
                .cannotOpen, "The copy of '\(url.path)' would replace '\(file.path)'; move that away first.")
        }
        return other
    }

    private static func cannotCopy(_ url: URL, _ copy: URL, _ error: any Error) -> StoreError {
        StoreError(
            .cannotOpen,
            "'\(url.path)' cannot be copied to '\(copy.path)' (\(error)); free some space, or make the folder writable.",
            cause: error)
    }

    // MARK: - Temporary files

    private static func prefix(for url: URL) -> String { ".\(url.lastPathComponent).migration-" }

    /// Returns a new name beside a file, for a file that will replace it or get its name.
    static func temporary(for url: URL) -> URL {
        url.deletingLastPathComponent().appendingPathComponent(prefix(for: url) + UUID().uuidString)
    }

    private static func isTemporary(_ name: String, for url: URL) -> Bool {
        // A step of several makes a file beside the copy that it changes.
        let prefix = prefix(for: url)
        let isNested = name.hasPrefix("." + prefix)
        guard isNested || name.hasPrefix(prefix) else { return false }
        let parts = name.dropFirst(prefix.count + (isNested ? 1 : 0)).components(separatedBy: ".migration-")
        return parts.count == (isNested ? 2 : 1) && parts.allSatisfy { UUID(uuidString: $0) != nil }
    }

    /// Removes the files of migrations that were killed; under the store's lock, no other one can be running.
    static func removeTemporaries(for url: URL) {
        let folder = url.deletingLastPathComponent()
        for name in names(in: folder) where isTemporary(name, for: url) {
            let file = folder.appendingPathComponent(name)
            // No migration makes a link, which could lead to a file of another program.
            if kind(of: file) == .typeRegular { StoreFiles(file).remove() }
        }
        // A folder of large values that got its name before its database did.
        let support = PersistentStore.supportFolder(of: url)
        if !exists(url), kind(of: support) == .typeDirectory,
            names(in: support).contains(where: { isTemporary($0, for: url) })
        {
            try? FileManager.default.removeItem(at: support)
        }
    }

    private static func names(in folder: URL) -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    }

    /// Whether there is a file, a folder or a link, and which; `nil` if there is none.
    private static func kind(of url: URL) -> FileAttributeType? {
        try? FileManager.default.attributesOfItem(atPath: url.path)[.type] as? FileAttributeType
    }

    private static func exists(_ url: URL) -> Bool { kind(of: url) != nil }

    /// Renames the files, once they are on the disk, to names that must not exist.
    private func rename(to other: StoreFiles) throws {
        try Self.synchronize(url)
        var mark: URL?
        if Self.exists(support) {
            // Distinguishes the leftovers of a killed migration from another program's folder.
            mark = other.support.appendingPathComponent(url.lastPathComponent)
            try Data().write(to: support.appendingPathComponent(url.lastPathComponent))
            for file in externalFiles + [external, support] where Self.exists(file) { try Self.synchronize(file) }
            try Self.rename(support, to: other.support)
        }
        do {
            try Self.rename(url, to: other.url)
        } catch {
            if mark != nil { try? FileManager.default.removeItem(at: other.support) }
            throw error
        }
        if let mark { unlink(mark.path) }
        do {
            try Self.synchronize(other.url.deletingLastPathComponent())
        } catch {
            other.remove()
            throw error
        }
    }

    private static func rename(_ url: URL, to other: URL) throws {
        guard cstore_rename_to_new(url.path, other.path) == 0 else {
            throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
        }
    }

    // MARK: - The disk

    /// Checks that a folder's disk has room for a migration.
    ///
    /// - Throws: `StoreError` if it does not.
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
    /// Replaces the contents of the database with those of another one, in one transaction.
    ///
    /// - Parameter source: A connection that is in no transaction, as this one must be.
    /// - Throws: `StoreError` if it cannot be done; the database is then as it was.
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
