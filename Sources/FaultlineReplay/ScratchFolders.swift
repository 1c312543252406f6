import Foundation
import Glibc
import Synchronization

/// The folders with copies that this process has, so that none of them outlives it.
public enum ScratchFolders {
    private static let live = Mutex<Set<String>>([])

    static func insert(_ path: String) { live.withLock { _ = $0.insert(path) } }

    static func remove(_ path: String) {
        try? FileManager.default.removeItem(atPath: path)
        live.withLock { _ = $0.remove(path) }
    }

    /// From now on, a signal that ends the process removes the folders first.
    ///
    /// For the main thread, once, before it makes others: they leave these signals to one that waits for nothing else, and
    /// none is lost until that one runs. What the process ignores, as under `nohup`, it goes on ignoring.
    public static func removeWhenInterrupted() {
        let numbers = [SIGINT, SIGTERM, SIGHUP].filter { !isIgnored($0) }
        var signals = set(of: numbers)
        guard !numbers.isEmpty, pthread_sigmask(SIG_BLOCK, &signals, nil) == 0 else { return }
        Thread.detachNewThread {
            var signals = set(of: numbers)
            var number: Int32 = 0
            guard sigwait(&signals, &number) == 0 else { return }
            // Whoever opens another one meanwhile waits for ever.
            live.withLock { paths in
                for path in paths { try? FileManager.default.removeItem(atPath: path) }
                signal(number, SIG_DFL)
                pthread_sigmask(SIG_UNBLOCK, &signals, nil)
                kill(getpid(), number)
                sleep(1)
            }
        }
    }

    private static func set(of numbers: [Int32]) -> sigset_t {
        var signals = sigset_t()
        sigemptyset(&signals)
        for number in numbers { sigaddset(&signals, number) }
        return signals
    }

    private static func isIgnored(_ number: Int32) -> Bool {
        var action = sigaction()
        guard sigaction(number, nil, &action) == 0, let handler = action.__sigaction_handler.sa_handler else {
            return false
        }
        return unsafeBitCast(handler, to: Int.self) == 1
    }
}
