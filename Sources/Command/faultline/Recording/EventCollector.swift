import FaultlineRecorder

/// Collects the events of a command and its children while the command runs.
protocol EventCollector {
    /// The environment variables that make the command record.
    var environment: [String: String] { get }

    /// The directory for files that the command needs until the recording ends.
    var scratch: String { get }

    /// Collects the events recorded since the last call, and returns their number.
    func collect() -> UInt64

    /// The state of the recording, or `nil` if it is unknown until the end.
    var progress: TraceCollector.Progress? { get }

    /// Collects the rest and ends the trace.
    func finish() -> TraceCollector.Outcome

    /// Ends without a trace, because the command could not be run.
    func discard()
}

extension TraceCollector: EventCollector {
    var scratch: String { directory }
}
