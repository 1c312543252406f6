import FaultlineRecorder

/// Splits a time into laps, once it is started.
struct Stopwatch {
    private let recorder: Recorder
    private var last: UInt64 = 0

    init(_ recorder: Recorder) {
        self.recorder = recorder
    }

    /// Starts the first lap, or a lap that counts nothing that lies before it.
    mutating func restart() {
        last = recorder.now()
    }

    /// Ends a lap and begins the next one.
    ///
    /// - Returns: how long the lap took, in nanoseconds.
    mutating func lap() -> UInt64 { lap(until: recorder.now()) }

    /// Ends a lap at a time that is known already, in nanoseconds of `CLOCK_MONOTONIC`.
    mutating func lap(until time: UInt64) -> UInt64 {
        defer { last = time }
        return time - min(time, last)
    }
}
