import Dispatch
import Glibc

/// A clock by which work is measured.
enum TrialClock {
    /// The CPU time of the calling thread: whatever else the machine does makes no difference, and what is read from a copy is
    /// in memory.
    case thread
    /// The time that passes, for work that waits for a disk.
    case wall

    /// Nanoseconds.
    var now: UInt64 {
        switch self {
        case .thread: Self.threadTime()
        case .wall: DispatchTime.now().uptimeNanoseconds
        }
    }

    /// What reading the clock twice shows to have passed between, in nanoseconds.
    var reading: Double { self == .thread ? Self.threadReading : 0 }

    static func threadTime() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    /// The median of some pairs: the clock is a system call (0.5 µs where it was measured).
    private static let threadReading: Double = {
        let pairs = (0..<101).map { _ in
            let start = threadTime()
            return threadTime() - start
        }
        return Double(pairs.sorted()[pairs.count / 2])
    }()
}

/// What one run of some work took, in nanoseconds.
struct Timing {
    let clock: TrialClock
    /// The time in the store, each part by its weight.
    private(set) var total = 0.0
    /// The longest step at which a program waits.
    private(set) var longest = 0.0
    /// Rows that fetches found, where they were done as they were recorded.
    var found: UInt64 = 0

    init(_ clock: TrialClock) { self.clock = clock }

    /// Runs a step, and adds what it took.
    ///
    /// - Parameters:
    ///   - parts: How many waits the step consists of, all of about the same length.
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
