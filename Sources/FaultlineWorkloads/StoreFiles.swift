import Foundation

/// The files that a store consists of.
enum StoreFiles {
    /// Removes a store, if there is one.
    static func remove(at url: URL) throws {
        let folder = url.deletingLastPathComponent()
        let name = url.deletingPathExtension().lastPathComponent
        let files = [
            url.path, url.path + "-wal", url.path + "-shm", folder.appendingPathComponent(".\(name)_SUPPORT").path,
        ]
        for file in files where FileManager.default.fileExists(atPath: file) {
            try FileManager.default.removeItem(atPath: file)
        }
    }
}
