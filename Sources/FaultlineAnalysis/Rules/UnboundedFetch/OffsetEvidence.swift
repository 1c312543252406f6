internal import FaultlineTrace

/// Runs of one statement with an offset at one line, outside any operation of an object store.
public struct OffsetEvidence: Sendable {
    public internal(set) var executions: UInt64 = 0
    public internal(set) var rows: UInt64 = 0
    /// The steps of SQLite's virtual machine.
    public internal(set) var steps: UInt64 = 0
    /// The steps of the shortest run that returned rows, or 0 if none did.
    public internal(set) var leastSteps: UInt64 = 0
    /// The steps of full scans, also those in the order of an index.
    public internal(set) var fullScanSteps: UInt64 = 0
    /// The runs' time in SQLite, in nanoseconds.
    public internal(set) var time: UInt64 = 0
    public internal(set) var mainThreadTime: UInt64 = 0
    /// The libraries that ran the statement for the program, as names of ``StatementLibrary``.
    public internal(set) var libraries: Set<String> = []
    public internal(set) var scopes: [ScopeSummary.Key: UInt64] = [:]
    /// The wall time of the scopes, or without scopes that of the runs, in nanoseconds.
    public internal(set) var wallTime: UInt64 = 0
}

extension OffsetEvidence {
    /// The steps for each row that an offset skips, with an index that has the rows in order.
    private static let stepsPerRow = 3.0

    /// The steps beyond those that all runs would take with the offset of the shortest one.
    private var skippingSteps: Double { max(0, Double(steps) - Double(executions) * Double(leastSteps)) }

    /// The number of rows that SQLite stepped over and did not return.
    ///
    /// It counts them only if it scans the whole table. If not, they are estimated from its steps, and the shortest run counts
    /// as the first page.
    var skippedRows: Double {
        if fullScanSteps > 0 { return max(0, Double(fullScanSteps &+ executions) - Double(rows)) }
        return leastSteps == 0 ? 0 : skippingSteps / Self.stepsPerRow
    }

    /// The time for skipping, in nanoseconds, if all steps take as long.
    var skippingTime: Double {
        if fullScanSteps > 0 { return Double(time) * skippedRows / max(1, Double(fullScanSteps &+ executions)) }
        return Double(time) * skippingSteps / max(1, Double(steps))
    }
}

extension OffsetEvidence: Summed, StartsEmpty {
    static let parts: [SumPart<OffsetEvidence>] = [
        .sum("executions", \.executions), .sum("rows", \.rows), .sum("steps", \.steps),
        .minimum("leastSteps", \.leastSteps), .sum("fullScanSteps", \.fullScanSteps), .sum("time", \.time),
        .sum("mainThreadTime", \.mainThreadTime),
        .sum("wallTime", \.wallTime), .union("libraries", \.libraries), .part("scopes", \.scopes),
    ]
}
