import CStore
import FaultlineRecorder
import FaultlineTrace
import Synchronization

/// The owner of a queue or a lock, for the events of those who wait for it; kept up while recording.
///
/// The parts are written one by one: who looks while they change may see a context with another's site, in a trace of
/// who waited for whom.
final class LockOwner: Sendable {
    private let context = Atomic<DictionaryID>(0)
    private let site = Atomic<DictionaryID>(0)
    private let thread = Atomic<UInt32>(0)

    /// Notes that this thread holds it.
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

    /// A wait for it that begins now.
    func wait(for resource: TraceEvent.Wait.Resource, isBlocking: Bool) -> TraceEvent.Wait {
        var wait = TraceEvent.Wait()
        wait.resource = resource
        wait.isBlocking = isBlocking
        wait.holder = context.load(ordering: .relaxed)
        wait.holderSite = site.load(ordering: .relaxed)
        wait.holderThread = thread.load(ordering: .relaxed)
        return wait
    }
}
