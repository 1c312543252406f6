internal import CRecorder

/// Recording measures its own cost. Work that only recording needs is timed once in a while, and counts for the rest.
extension Recorder {
    /// The number of pieces of work of which one is timed.
    package static var costSampling: Int { Int(FL_COST_SAMPLING) }

    /// The time that reading the clock takes, in nanoseconds.
    package static var clockCost: UInt64 { fl_clock_cost() }

    /// The time if this piece of work is to be timed; otherwise 0.
    ///
    /// Pass it to ``endCost(_:times:)`` after the work, on the same thread.
    ///
    /// - Complexity: About 3 ns, except for a timed piece.
    package func beginCost() -> UInt64 {
        handle.map { fl_cost_begin($0) } ?? 0
    }

    /// The time, for a piece of work that is always timed because it can be long; 0 if recording is off.
    ///
    /// Pass it to ``endCost(_:times:)`` with `times` 1.
    package func beginLongCost() -> UInt64 {
        isEnabled ? now() : 0
    }

    /// Adds the cost of a piece of work to the cost of recording.
    ///
    /// - Parameters:
    ///   - start: The time at which it began, or 0 if it is not timed.
    ///   - times: The number of pieces that it stands for.
    package func endCost(_ start: UInt64, times: Int = costSampling) {
        if start != 0, let handle { fl_cost_end(handle, start, UInt32(times)) }
    }
}
