internal import CTraceSchema

extension TraceEvent.Prefetch {
    /// The maximum number of key paths that an event lists.
    ///
    /// Further key paths count only in the event's totals.
    package static var maximumPaths: Int { Int(FL_PREFETCHES) }
}

extension TraceEvent.Batch {
    /// The number of batches whose objects a result keeps in memory: the most recently used ones.
    package static var retained: Int { 4 }
}

extension TraceEvent.Release {
    /// The minimum size in bytes at which an object's values count as large.
    package static var minimumBytes: UInt64 { UInt64(FL_LARGE_VALUE) }
}

extension TraceEvent.Save.Unread {
    /// The maximum number of fetches that a save lists.
    package static var maximumFetches: Int { Int(FL_UNREAD_FETCHES) }
    /// The maximum number of properties that a save lists for an entity.
    package static var maximumProperties: Int { Int(FL_UNREAD_PROPERTIES) }
}

extension TraceEvent.Wait.Resource {
    /// Whether only one writer can hold it at a time.
    package var isWriteLock: Bool { self == .coordinator || self == .sqlite }
}
