import Dispatch
import Foundation
import Synchronization

/// Work on a thread of its own, which a file system that does not answer can hold up for ever.
///
/// Whoever does not get its value in time goes on without it; the thread goes with the process.
final class TimedWork<Value: Sendable>: Sendable {
    private let value = Mutex<Value?>(nil)
    private let end = DispatchSemaphore(value: 0)

    init(_ work: @escaping @Sendable () -> Value) {
        Thread.detachNewThread {
            let value = work()
            self.value.withLock { $0 = value }
            self.end.signal()
        }
    }

    /// What came of the work, or `nil` if it has not ended by then.
    func value(by deadline: DispatchTime) -> Value? {
        guard end.wait(timeout: deadline) == .success else { return nil }
        return value.withLock { $0 }
    }
}
