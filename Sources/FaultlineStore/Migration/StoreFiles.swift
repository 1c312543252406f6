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
}
