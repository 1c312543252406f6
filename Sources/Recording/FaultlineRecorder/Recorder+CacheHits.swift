internal import CRecorder
internal import CTraceSchema
package import FaultlineTrace

/// A fault that the row cache filled.
package struct CacheHit {
    /// The number of objects' faults of which one is timed.
    package static var sampling: Int { Int(FL_HIT_SAMPLING) }

    fileprivate var record: fl_hit

    /// A fault on an object.
    ///
    /// - Parameters:
    ///   - place: A number that distinguishes entities, relationships and kinds of faults.
    ///   - origin: The fetch that produced the object, or the object from which it was reached.
    ///   - bytes: Bytes of memory that the row occupies.
    ///   - started: The time when it fired, in nanoseconds of `CLOCK_MONOTONIC`, if it is timed; otherwise 0. A timed
    ///     hit stands for ``sampling`` of them.
    package init(place: UInt64, origin: EventID, bytes: UInt32, context: DictionaryID, started: UInt64) {
        record = fl_hit(
            place: place, origin: origin, bytes: UInt64(bytes), started: started, ended: 0, filled: 1,
            context: context, is_sample: true)
    }

    /// A fault on a to-many relationship, which is timed.
    package init(place: UInt64, origin: EventID, members: Int, context: DictionaryID, started: UInt64) {
        record = fl_hit(
            place: place, origin: origin, bytes: UInt64(members * MemoryLayout<Int64>.size), started: started,
            ended: 0, filled: UInt32(clamping: members), context: context, is_sample: false)
    }
}

/// Faults that the row cache fills are counted.
///
/// Hits of one thread, scope, fetch, relationship and call stack become one ``TraceEvent/CacheHits`` event, which is
/// recorded when the scope or the thread ends, or with another event of the thread after a second.
extension Recorder {
    /// Counts a hit if it belongs to a sum that is open.
    ///
    /// - Complexity: About 15 ns, and no clock is read, except for a timed hit.
    /// - Returns: Whether it does; otherwise the same function must call ``open(_:_:)``.
    @inline(never)
    package func count(_ hit: inout CacheHit) -> Bool {
        followTask()
        guard let handle else { return true }
        // Passed without a closure, which would be a frame of its own in a debug build.
        return fl_hit_count(handle, &hit.record)
    }

    /// Begins a sum with its first hit.
    ///
    /// - Parameter shared: The fields that all of its hits share.
    @inline(never)
    package func open(_ hit: CacheHit, _ shared: TraceEvent.CacheHits) {
        guard let handle else { return }
        var (record, fields) = (hit.record, shared.record)
        fl_hit_open(handle, &record, &fields)
    }
}
