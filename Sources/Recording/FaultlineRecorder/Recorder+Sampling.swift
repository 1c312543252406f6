internal import CRecorder
internal import Foundation

extension Recorder {
    /// Starts to sample the call stacks of the process's threads while they use a CPU.
    ///
    /// - Parameter rate: The number of samples for each second of a thread's CPU time, as text.
    /// - Returns: A sentence about the obstacle, or `nil` if there is none.
    func sampleCPU(_ rate: String) -> String? {
        guard let handle else { return nil }
        let samples = fl_sampler_rate(rate)
        guard samples > 0 else {
            return "\(RecordingVariable.cpu.rawValue) must be a number of samples per second, not \"\(rate)\"; "
                + "CPU time is not sampled."
        }
        guard fl_sampler_start(handle, samples, nil) else {
            return "Cannot sample CPU time: \(String(cString: strerror(errno)))."
        }
        fl_sampler_join_observer()
        return nil
    }

    /// Starts to sample the process's allocations.
    ///
    /// The library that sees them must have been preloaded, as `faultline record --allocations` does.
    ///
    /// - Parameter interval: The mean distance between two samples in bytes, as text.
    /// - Returns: A sentence about the obstacle, or `nil` if there is none.
    func sampleAllocations(_ interval: String) -> String? {
        guard let handle else { return nil }
        guard let bytes = UInt64(interval), bytes > 0 else {
            return "\(RecordingVariable.allocations.rawValue) must be a number of bytes, not \"\(interval)\"; "
                + "allocations are not sampled."
        }
        guard fl_sample_allocations(handle, bytes, nil) else {
            let reason =
                errno == ENOENT
                ? "the library that sees them was not preloaded; run the program with \"faultline record --allocations\""
                : String(cString: strerror(errno))
            return "Cannot sample allocations: \(reason)."
        }
        fl_sampler_join_observer()
        return nil
    }
}

extension Recorder {
    /// Runs a body in which code without frame pointers may call back, such as `DispatchQueue.sync`.
    ///
    /// The stacks of events below it continue with this function's callers. Costs two stores to thread-local memory.
    @inline(never)
    package static func anchoringStacks<Result>(_ body: () throws -> Result) rethrows -> Result {
        fl_push_anchor()
        defer { fl_pop_anchor() }
        return try body()
    }
}

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

/// Creates the program's recorder before `main`, if samples are recorded; `start.c` calls it.
@_cdecl("faultline_start_recorder")
func startRecorder() { _ = Recorder.shared }
