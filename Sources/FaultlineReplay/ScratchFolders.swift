import Foundation
import Synchronization

/// The folders with copies that this process has, so that none of them outlives it.
public enum ScratchFolders {
    private static let live = Mutex<Set<String>>([])

    static func insert(_ path: String) { live.withLock { _ = $0.insert(path) } }

    static func remove(_ path: String) {
        try? FileManager.default.removeItem(atPath: path)
        live.withLock { _ = $0.remove(path) }
    }

    /// Removes all of them, and ends the process.
    ///
    /// - Parameter end: Ends it. Whoever opens another folder meanwhile waits for ever.
    public static func removeAll(_ end: () -> Void) {
        live.withLock { paths in
            for path in paths { try? FileManager.default.removeItem(atPath: path) }
            end()
        }
    }
}
