import FaultlineRecorder
import FaultlineTrace

typealias FetchSpan = Span<TraceEvent.Fetch>

extension FetchSpan {
    /// Called after unsaved changes were compared.
    ///
    /// - Parameter objects: The number of objects compared with the predicate.
    func didCompare(_ objects: Int = 0) {
        event.pending += lap()
        event.pendingObjects += UInt32(clamping: objects)
    }

    /// Completes the event of a finished fetch, except for the fields that all spans share.
    ///
    /// - Parameter start: The time when the fetch began, in nanoseconds of `CLOCK_MONOTONIC`.
    func finish(rows: Int, bytes: @autoclosure () -> UInt64, since start: UInt64) {
        let total = recorder.now() - start
        event.materialise = total - min(total, event.wait + event.prepare + event.step + event.pending)
        event.rows = UInt32(clamping: rows)
        event.bytes = bytes()
    }
}

extension TraceEvent.Fetch {
    /// Adds the figures of a fetch from another store.
    mutating func add(_ part: TraceEvent.Fetch) {
        trips += part.trips
        bytes += part.bytes
        cacheHits += part.cacheHits
        cacheMisses += part.cacheMisses
        prefetchedRows += part.prefetchedRows
        prefetchedBytes += part.prefetchedBytes
        wait += part.wait
        prepare += part.prepare
        step += part.step
        materialise += part.materialise
        pending += part.pending
        pendingObjects += part.pendingObjects
    }
}
