import Dispatch
import Foundation
import Glibc
import Synchronization

/// The folders with copies that this process has, so that none of them outlives it.
public enum ScratchFolders {
    private static let live = Mutex<Set<String>>([])
    // Written once, by the main thread before any work begins.
    nonisolated(unsafe) private static var sources: [any DispatchSourceSignal] = []

    static func insert(_ path: String) { live.withLock { _ = $0.insert(path) } }

    static func remove(_ path: String) {
        try? FileManager.default.removeItem(atPath: path)
        live.withLock { _ = $0.remove(path) }
    }

    /// From now on, a signal that ends the process removes the folders first.
    ///
    /// For the main thread, once.
    public static func removeWhenInterrupted() {
        let queue = DispatchQueue(label: "faultline.scratch")
        for number in [SIGINT, SIGTERM, SIGHUP] {
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler {
                // Whoever opens another one meanwhile waits for ever.
                live.withLock { paths in
                    for path in paths { try? FileManager.default.removeItem(atPath: path) }
                    signal(number, SIG_DFL)
                    kill(getpid(), number)
                    sleep(1)
                }
            }
            signal(number, SIG_IGN)
            source.resume()
            sources.append(source)
        }
    }
}
