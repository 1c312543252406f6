import FaultlineRecorder
import FaultlineTrace

typealias FetchSpan = Span<TraceEvent.Fetch>

extension FetchSpan {
    /// To be called when unsaved changes were looked through.
    ///
    /// - Parameter objects: how many objects the predicate was compared with.
    func didCompare(_ objects: Int = 0) {
        event.pending += lap()
        event.pendingObjects += UInt32(clamping: objects)
    }

    /// Completes the event of a fetch that is done, but for what it has in common with others.
    ///
    /// - Parameter start: when the fetch began, in nanoseconds of `CLOCK_MONOTONIC`.
    func finish(rows: Int, bytes: @autoclosure () -> UInt64, since start: UInt64) {
        let total = recorder.now() - start
        event.materialise = total - min(total, event.wait + event.prepare + event.step + event.pending)
        event.rows = UInt32(clamping: rows)
        event.bytes = bytes()
    }
}

extension TraceEvent.Fetch {
    /// Adds what another of several stores was asked.
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
