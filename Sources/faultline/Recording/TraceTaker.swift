import FaultlineRecorder

/// Takes what a command and its children record, as long as the command runs.
protocol TraceTaker {
    /// What the command needs in its environment to be recorded.
    var environment: [String: String] { get }

    /// Takes in what has been recorded since the last time; returns the number of events.
    func collect() -> UInt64

    /// Takes in the rest and ends the trace.
    func finish() -> TraceCollector.Outcome

    /// Ends without a trace, since the command could not be run.
    func discard()
}

extension TraceCollector: TraceTaker {}
