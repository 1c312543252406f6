internal import CRecorder

/// Recording measures its own cost. Work that only recording needs is timed once in a while, and counts for the rest.
extension Recorder {
    /// The number of pieces of work of which one is timed.
    package static var costSampling: Int { Int(FL_COST_SAMPLING) }

    /// The time that reading the clock takes, in nanoseconds.
    package static var clockCost: UInt64 { fl_clock_cost() }

    /// The time if this piece of work is to be timed; otherwise 0.
    ///
    /// Pass it to ``endCost(_:)`` after the work, on the same thread.
    ///
    /// - Complexity: About 3 ns, except for a timed piece.
    package func beginCost() -> UInt64 {
        handle.map { fl_cost_begin($0) } ?? 0
    }

    /// Adds the cost of a timed piece of work, and of those it stands for, to the cost of recording.
    ///
    /// - Parameter start: The time at which it began, or 0 if it is not timed.
    package func endCost(_ start: UInt64) {
        if start != 0, let handle { fl_cost_end(handle, start) }
    }

    /// Runs work that only recording needs, and adds its time to the cost of recording.
    ///
    /// For work that can be long. Shorter work is timed only once in a while, with ``beginCost()``.
    package func measuringCost<Result>(_ work: () -> Result) -> Result {
        let start = nowIfEnabled
        defer { if start != 0, let handle { fl_long_cost_end(handle, start) } }
        return work()
    }
}
