#if FAULTLINE_VISIBLE_LOCKS
    internal import Glibc

    /// A lock with the interface of the standard library's `Mutex`, made of a lock that ThreadSanitizer sees.
    ///
    /// The sanitizer does not know that `Mutex` orders the accesses of threads, because that one calls the kernel itself. In a
    /// build with `-DFAULTLINE_VISIBLE_LOCKS`, this type stands in for it in the recorder and the store.
    package final class VisibleMutex<Value>: @unchecked Sendable {
        // The lock protects the value, and neither is moved.
        private let lock: UnsafeMutablePointer<pthread_mutex_t>
        private var value: Value

        package init(_ value: sending Value) {
            self.value = value
            lock = .allocate(capacity: 1)
            pthread_mutex_init(lock, nil)
        }

        deinit {
            pthread_mutex_destroy(lock)
            lock.deallocate()
        }

        package func withLock<Result, Failure: Error>(
            _ body: (inout sending Value) throws(Failure) -> sending Result
        ) throws(Failure) -> sending Result {
            pthread_mutex_lock(lock)
            defer { pthread_mutex_unlock(lock) }
            return try body(&value)
        }

        package func withLockIfAvailable<Result, Failure: Error>(
            _ body: (inout sending Value) throws(Failure) -> sending Result
        ) throws(Failure) -> sending Result? {
            guard pthread_mutex_trylock(lock) == 0 else { return nil }
            defer { pthread_mutex_unlock(lock) }
            return try body(&value)
        }
    }

    typealias Mutex = VisibleMutex
#endif
