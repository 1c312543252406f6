internal import CRecorder
internal import Foundation

extension Recorder {
    /// Starts to sample the call stacks of the process's threads while they use a CPU.
    ///
    /// - Parameter rate: The number of samples for each second of a thread's CPU time, as text.
    /// - Returns: A sentence about what prevents that, or `nil`.
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
    /// - Returns: A sentence about what prevents that, or `nil`.
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
