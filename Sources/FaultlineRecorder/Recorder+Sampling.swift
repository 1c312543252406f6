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
}
