internal import FaultlineTrace

/// A wait for a lock, and the save that held the lock for most of it.
struct BlockedSave: Sendable {
    var save: TraceEvent
    /// The line that saved; `nil`: not known.
    var site: CallSite?
    var wait: ThreadWork.Wait
    /// Whether events were lost meanwhile.
    var isLossy: Bool
}
