import FaultlineRecorder
import Foundation
import Synchronization

/// The folders with copies that this process has, so that none of them outlives it.
public enum ScratchFolders {
    private static let live = Mutex<Set<String>>([])

    /// Times that a folder is removed into which files are still being put.
    private static let attempts = 1000

    /// Takes in a folder that is made.
    ///
    /// - Parameter folder: Makes it; `nil`: it could not.
    static func insert(_ folder: () -> OwnedDirectory?) -> OwnedDirectory? {
        // Under the lock, so that none is there which nobody knows of.
        live.withLock { paths in
            let made = folder()
            if let made { paths.insert(made.path) }
            return made
        }
    }

    static func remove(_ folder: OwnedDirectory) {
        folder.remove()
        live.withLock { _ = $0.remove(folder.path) }
    }

    /// Removes all of them, and ends the process.
    ///
    /// - Parameter end: Ends it. Whoever opens another folder meanwhile waits for ever.
    public static func removeAll(_ end: () -> Void) {
        live.withLock { paths in
            for path in paths {
                for _ in 0..<attempts where FileManager.default.fileExists(atPath: path) {
                    try? FileManager.default.removeItem(atPath: path)
                }
            }
            end()
        }
    }
}
