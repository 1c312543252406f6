internal import CTraceSchema

extension TraceEvent.Prefetch {
    /// The maximum number of key paths that an event lists.
    ///
    /// What further ones took is in the sums alone.
    package static var maximumPaths: Int { Int(FL_PREFETCHES) }
}

extension TraceEvent.Batch {
    /// The number of batches whose objects a result holds: the ones used last.
    package static var retained: Int { 4 }
}

extension TraceEvent.Release {
    /// The minimum number of bytes for an object's values to be large.
    package static var leastBytes: UInt64 { UInt64(FL_LARGE_VALUE) }
}

extension TraceEvent.Save.Unread {
    /// The maximum number of fetches that a save lists.
    package static var maximumFetches: Int { Int(FL_UNREAD_FETCHES) }
    /// The maximum number of an entity's properties.
    package static var maximumProperties: Int { Int(FL_UNREAD_PROPERTIES) }
}

extension TraceEvent.Wait.Resource {
    /// Whether one writer holds it at a time.
    package var isWriteLock: Bool { self == .coordinator || self == .sqlite }
}
