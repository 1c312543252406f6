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
    /// All of it, each part by its weight.
    private(set) var total = 0.0
    /// The longest step at which a program waits.
    private(set) var longest = 0.0
    /// Rows that fetches found, where they were done as they were recorded.
    var found: UInt64 = 0

    init(_ clock: TrialClock) { self.clock = clock }

    /// Runs a step, and adds what it took.
    ///
    /// - Parameter parts: How many waits the step consists of, all of about the same length.
    mutating func step<Result>(weight: Double, parts: Int = 1, _ body: () throws -> Result) rethrows -> Result {
        let start = clock.now
        let result = try body()
        let time = max(0, Double(clock.now - start) - clock.reading)
        total += time * weight
        longest = max(longest, time / Double(max(1, parts)))
        return result
    }
}

/// Measures two ways of doing the same in turns: ABBA, so that neither gains from the machine's getting slower or faster.
struct TurnTaking {
    /// How often each is measured, at least and at most.
    static let rounds = 12...40
    /// Nanoseconds after which no further round is begun, once there are enough of them.
    static let enough: UInt64 = 2_000_000_000
    /// Nanoseconds after which even the fewest rounds that say something are enough.
    static let limit: UInt64 = 20_000_000_000
    static let fewestRounds = 6

    static func measure(
        before: () throws -> Timing, after: () throws -> Timing
    ) rethrows -> [(before: Timing, after: Timing)] {
        // What is read from the disk is in memory afterwards.
        _ = try before()
        _ = try after()
        let start = TrialClock.wall.now
        var measured: [(before: Timing, after: Timing)] = []
        while measured.count < rounds.upperBound {
            let time = TrialClock.wall.now - start
            if measured.count >= rounds.lowerBound, time > enough { break }
            if measured.count >= fewestRounds, time > limit { break }
            if measured.count.isMultiple(of: 2) {
                let first = try before()
                measured.append((first, try after()))
            } else {
                let first = try after()
                measured.append((try before(), first))
            }
        }
        return measured
    }
}
