import CStore
import FaultlineRecorder
import FaultlineTrace
import Synchronization

#if FAULTLINE_VISIBLE_LOCKS
typealias Mutex = VisibleMutex
#endif

/// The owner of a queue or a lock, for the events of its waiters; maintained while recording.
///
/// The parts are written separately, so a concurrent reader may combine one owner's context with another's call site.
/// Only the trace's wait events are affected.
final class LockOwner: Sendable {
    private let context = Atomic<DictionaryID>(0)
    private let site = Atomic<DictionaryID>(0)
    private let thread = Atomic<UInt32>(0)

    /// Records that this thread owns it.
    func set(_ origin: TraceOrigin) {
        context.store(origin.context, ordering: .relaxed)
        site.store(origin.site, ordering: .relaxed)
        thread.store(cstore_thread_number(), ordering: .relaxed)
    }

    func clear() {
        thread.store(0, ordering: .relaxed)
        context.store(0, ordering: .relaxed)
        site.store(0, ordering: .relaxed)
    }

    /// Creates the event of a wait that begins now.
    func wait(for resource: TraceEvent.Wait.Resource, isBlocking: Bool) -> TraceEvent.Wait {
        var wait = TraceEvent.Wait()
        wait.resource = resource
        wait.isBlocking = isBlocking
        wait.owner = context.load(ordering: .relaxed)
        wait.ownerSite = site.load(ordering: .relaxed)
        wait.ownerThread = thread.load(ordering: .relaxed)
        return wait
    }
}
