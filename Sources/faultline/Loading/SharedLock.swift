import Foundation

/// A lock that many readers of a file can hold at once, and that excludes writers.
struct SharedLock {
    private let descriptor: Int32

    /// The number of attempts, one per millisecond.
    ///
    /// Completing a trace takes seconds at most.
    private static let attempts = 60_000

    /// Takes the lock, after waiting for another process that completes the file or adds to it.
    ///
    /// Returns `nil` if the lock is not available, for example because the program that writes the file still runs. The
    /// file is then read as it is.
    init?(_ path: String) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        for _ in 0..<Self.attempts {
            if flock(descriptor, LOCK_SH | LOCK_NB) == 0 {
                self.descriptor = descriptor
                return
            }
            guard errno == EWOULDBLOCK || errno == EINTR else { break }
            usleep(1000)
        }
        close(descriptor)
        return nil
    }

    func release() { close(descriptor) }
}
