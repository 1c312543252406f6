import Foundation

/// A lock that many readers of a file can have at once, and that keeps out whoever would write to it.
struct SharedLock {
    private let descriptor: Int32

    /// How often to ask for it, once a millisecond: completing a trace takes seconds at most.
    private static let attempts = 60_000

    /// Takes the lock, and waits for another process that completes the file or adds to it; `nil` if it cannot be had, as
    /// where the program that writes the file still runs: the file is then read as it is.
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
