import FaultlineStore
import Foundation

/// The files that a store consists of.
enum StoreFiles {
    /// Removes a store, if there is one.
    static func remove(at url: URL) throws {
        let files = [
            url.path, url.path + "-wal", url.path + "-shm", PersistentStore.supportFolder(of: url).path,
        ]
        for file in files where FileManager.default.fileExists(atPath: file) {
            try FileManager.default.removeItem(atPath: file)
        }
    }
}
