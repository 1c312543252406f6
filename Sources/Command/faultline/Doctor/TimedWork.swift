import Dispatch
import Foundation
import Synchronization

/// Work on a thread of its own, which an unresponsive file system can block for ever.
///
/// A caller that does not get the value in time continues without it. The thread ends with the process.
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

    /// Returns the value of the work, or `nil` if it is not available by the deadline.
    func value(by deadline: DispatchTime) -> Value? {
        guard end.wait(timeout: deadline) == .success else { return nil }
        return value.withLock { $0 }
    }
}
