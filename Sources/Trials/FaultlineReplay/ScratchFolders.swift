import FaultlineRecorder
import FaultlineTrace
import Foundation
import Synchronization

/// The folders with copies that this process owns, which must not outlive it.
package enum ScratchFolders {
    private static let live = Mutex<Set<String>>([])

    /// The number of attempts to remove a folder while files are still added to it.
    private static let attempts = 1000

    /// Registers a folder as it is created.
    ///
    /// - Parameter folder: Creates the folder, or returns `nil` if it cannot.
    static func insert(_ folder: () -> OwnedDirectory?) -> OwnedDirectory? {
        // Created under the lock, so every folder is registered.
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

    /// Removes all folders, and ends the process.
    ///
    /// - Parameter end: Ends the process. A thread that creates another folder meanwhile waits for ever.
    package static func removeAll(_ end: () -> Void) {
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
