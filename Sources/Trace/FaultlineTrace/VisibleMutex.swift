#if FAULTLINE_VISIBLE_LOCKS
internal import Glibc

/// A lock with the interface of the standard library's `Mutex`, made of a POSIX lock.
///
/// ThreadSanitizer does not see that `Mutex` orders the accesses of threads, because it calls the kernel itself. A build
/// with `-DFAULTLINE_VISIBLE_LOCKS` has this type in its place.
package final class VisibleMutex<Value: ~Copyable>: @unchecked Sendable {
    // The lock protects the value.
    private let lock: UnsafeMutablePointer<pthread_mutex_t>
    private let value: UnsafeMutablePointer<Value>

    package init(_ value: consuming sending Value) {
        lock = .allocate(capacity: 1)
        pthread_mutex_init(lock, nil)
        self.value = .allocate(capacity: 1)
        self.value.initialize(to: value)
    }

    deinit {
        value.deinitialize(count: 1)
        value.deallocate()
        pthread_mutex_destroy(lock)
        lock.deallocate()
    }

    package func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        pthread_mutex_lock(lock)
        defer { pthread_mutex_unlock(lock) }
        return try body(&value.pointee)
    }

    package func withLockIfAvailable<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result? {
        guard pthread_mutex_trylock(lock) == 0 else { return nil }
        defer { pthread_mutex_unlock(lock) }
        return try body(&value.pointee)
    }
}

typealias Mutex = VisibleMutex
#endif
