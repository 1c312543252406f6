internal import FaultlineTrace

extension TraceEvent {
    /// Whether it tells how many rows took how long.
    var tellsLoad: Bool { untold.isEmpty }
}

extension TraceEvent.Statement {
    /// Rows that it went through in a full scan; 0: none, or a single one, since the first row takes no step.
    var scannedRows: UInt64 { fullScanSteps > 0 ? UInt64(fullScanSteps) + 1 : 0 }

    /// Whether SQLite's counters are told: no statement runs without a step of the virtual machine.
    var isCounted: Bool { virtualMachineSteps > 0 || fullScanSteps > 0 || sorts > 0 }
}

extension TraceEvent.Save {
    /// Objects that it inserted, updated or deleted.
    var objects: UInt64 { UInt64(inserted) + UInt64(updated) + UInt64(deleted) }
}
