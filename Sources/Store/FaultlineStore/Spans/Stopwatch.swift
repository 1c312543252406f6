import FaultlineRecorder

/// Divides time into laps.
struct Stopwatch {
    private let recorder: Recorder
    private var last: UInt64 = 0

    init(_ recorder: Recorder) {
        self.recorder = recorder
    }

    /// Starts a lap, and discards the time since the last one.
    mutating func restart() {
        last = recorder.now()
    }

    /// Ends a lap and begins the next.
    ///
    /// - Returns: The duration of the lap, in nanoseconds.
    mutating func lap() -> UInt64 { lap(until: recorder.now()) }

    /// Ends a lap at a known time, in nanoseconds of `CLOCK_MONOTONIC`.
    mutating func lap(until time: UInt64) -> UInt64 {
        defer { last = time }
        return time - min(time, last)
    }
}
