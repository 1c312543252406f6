import Dispatch
import Glibc

/// A clock for measuring work.
enum TrialClock {
    /// The CPU time of the calling thread, which other work on the machine does not affect.
    ///
    /// Pages of a copy are already in memory.
    case thread
    /// Elapsed time, for work that waits for a disk.
    case wall

    /// The current time, in nanoseconds.
    var now: UInt64 {
        switch self {
        case .thread: Self.threadTime()
        case .wall: DispatchTime.now().uptimeNanoseconds
        }
    }

    /// The time that reading the clock takes, in nanoseconds.
    var reading: Double { self == .thread ? Self.threadReading : 0 }

    static func threadTime() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    /// The median of many readings.
    ///
    /// The clock is a system call, which took 0.5 µs when measured.
    private static let threadReading: Double = {
        let pairs = (0..<101).map { _ in
            let start = threadTime()
            return threadTime() - start
        }
        return Double(pairs.sorted()[pairs.count / 2])
    }()
}

/// The time of one run of some work, in nanoseconds.
struct Timing {
    let clock: TrialClock
    /// The weighted time in the store.
    private(set) var total = 0.0
    /// The longest step that makes a program wait.
    private(set) var longest = 0.0
    /// The rows that matched in fetches that were replayed as recorded.
    var found: UInt64 = 0

    init(_ clock: TrialClock) { self.clock = clock }

    /// Runs a step, and adds its time.
    ///
    /// - Parameters:
    ///   - parts: The number of waits in the step, all of about the same length.
    ///   - isInStore: Whether the step is work of the store. Other steps do not count in ``total``.
    mutating func step<Result>(
        weight: Double, parts: Int = 1, isInStore: Bool = true, _ body: () throws -> Result
    ) rethrows -> Result {
        let start = clock.now
        let result = try body()
        let time = max(0, Double(clock.now - start) - clock.reading)
        if isInStore { total += time * weight }
        longest = max(longest, time / Double(max(1, parts)))
        return result
    }
}
