import Foundation

/// The files of a store: the database, its journals, and the folder of its large values.
struct StoreFiles {
    let url: URL

    init(_ url: URL) {
        self.url = url
    }

    var support: URL { PersistentStore.supportFolder(of: url) }

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

    /// Copies a store that nobody writes to, with its large values.
    ///
    /// - Throws: ``StoreError`` if there is a file already, or if it cannot be written.
    func copy(to copy: URL) throws(StoreError) {
        let other = StoreFiles(copy)
        for file in [copy, other.support] where FileManager.default.fileExists(atPath: file.path) {
            throw StoreError(
                .cannotOpen, "The copy of '\(url.path)' would replace '\(file.path)'; move that away first.")
        }
        do {
            try FileManager.default.copyItem(at: url, to: copy)
            if FileManager.default.fileExists(atPath: support.path) {
                try FileManager.default.copyItem(at: support, to: other.support)
            }
        } catch {
            other.remove()
            throw StoreError(
                .cannotOpen,
                "'\(url.path)' cannot be copied to '\(copy.path)' (\(error)); free some space, or make the folder writable.",
                cause: error)
        }
    }

    static func size(of file: URL) -> UInt64 {
        (try? FileManager.default.attributesOfItem(atPath: file.path)[.size] as? UInt64) ?? 0
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
