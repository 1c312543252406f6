internal import FaultlineTrace

/// A wait for a lock, and the save that held the lock for most of it.
struct BlockedSave: Sendable {
    var save: TraceEvent
    /// The line that saved, or `nil` if unknown.
    var site: CallSite?
    var wait: ThreadWork.Wait
    /// Whether events were lost during the wait.
    var isLossy: Bool
}
