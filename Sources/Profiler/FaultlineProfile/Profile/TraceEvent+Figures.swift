package import FaultlineTrace

extension TraceEvent {
    /// The time that the event took on its thread, in nanoseconds, or `nil` if it took none.
    var threadTime: UInt64? {
        if case .cacheHits(let hits) = detail { return hits.time }
        return isOnThread ? duration : nil
    }

    /// Whether the event has a duration and a row count.
    var hasLoad: Bool { unrecorded.isEmpty }
}

extension TraceEvent.Statement {
    /// The rows of a full scan, or 0 for none or a single row, because the counter does not include the first row.
    var scannedRows: UInt64 { fullScanSteps > 0 ? UInt64(fullScanSteps) + 1 : 0 }

    /// Whether the event has SQLite's counters.
    ///
    /// Every statement takes a step of the virtual machine.
    var isCounted: Bool { virtualMachineSteps > 0 || fullScanSteps > 0 || sorts > 0 }
}

extension TraceEvent.Save {
    /// The number of objects that were inserted, updated or deleted.
    package var objects: UInt64 { UInt64(inserted) + UInt64(updated) + UInt64(deleted) }

    /// Whether it wrote to a store.
    ///
    /// The save of a child context only changes its parent, without a trip or a COMMIT.
    package var reachedStore: Bool { trips > 0 || commit > 0 }
}
