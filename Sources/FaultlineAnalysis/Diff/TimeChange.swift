internal import Foundation

/// The durations of an operation's events before and after, and whether they differ by more than noise.
///
/// If the trace records waits for a CPU, they are subtracted. ``TimeNoise`` judges the difference.
public struct TimeChange: Sendable, Hashable {
    public enum Direction: String, Sendable, Hashable, CaseIterable {
        case faster, slower, same
    }

    /// A median and its 95 % confidence bounds, in nanoseconds.
    public struct Median: Sendable, Hashable {
        public var value: UInt64
        public var low: UInt64
        public var high: UInt64
    }

    public let before: Median
    public let after: Median
    public let direction: Direction
    /// The smallest ratio of the two times that counts as a change, greater than 1, once the pace of all operations is
    /// removed.
    ///
    /// Smaller ratios are within the noise of the runs. `nil` if the operation takes too little of the store's time for
    /// any change to be reported.
    public let minimumRatio: Double?

    /// The minimum number of events for a median with bounds.
    ///
    /// With five events, even the least and the greatest contain the median in only 94 of 100 cases.
    static let minimumEvents: UInt64 = 6
}

/// The statistics that compare the times of one operation on both sides.
struct TimePair {
    let before: TimeChange.Median
    let after: TimeChange.Median
    /// The ratio of the trimmed mean durations, after to before.
    let ratio: Double
    /// The logarithms of ``ratio`` and of the ratios of the first quartiles and the medians.
    let change: Double
    let quartileChange: Double
    let medianChange: Double
    /// The standard error of these logarithms within one run.
    let error: Double
    /// The time spans of the events on each side.
    let spans: (before: TimeSpan, after: TimeSpan)

    /// Returns `nil` if one side has too few events.
    init?(_ before: EventGroup, _ after: EventGroup) {
        let (old, new) = (before.ownDurations, after.ownDurations)
        guard let oldMedian = old.medianBounds, let newMedian = new.medianBounds else { return nil }
        self.before = oldMedian
        self.after = newMedian
        ratio = new.trimmedMean / old.trimmedMean
        change = log(ratio)
        quartileChange = log(new.positivePercentile(25) / old.positivePercentile(25))
        medianChange = log(new.positivePercentile(50) / old.positivePercentile(50))
        // 95 % bounds are four standard errors apart.
        let errors = [oldMedian, newMedian].map { log(max(1, Double($0.high)) / max(1, Double($0.low))) / 4 }
        error = hypot(errors[0], errors[1])
        spans = (before.span, after.span)
    }

    /// Whether another operation ran at the same time as this one on both sides.
    func runsBeside(_ other: TimePair) -> Bool {
        spans.before.overlap(other.spans.before) >= TimeNoise.minimumOverlap
            && spans.after.overlap(other.spans.after) >= TimeNoise.minimumOverlap
    }
}

extension Distribution {
    /// The median, and the order statistics that contain it with 95 % confidence, or `nil` if there are too few values.
    ///
    /// The bounds hold for any distribution. They use the normal approximation of the binomial (NIST's Engineering
    /// Statistics Handbook, section 7.2.5.4).
    var medianBounds: TimeChange.Median? {
        guard count >= TimeChange.minimumEvents else { return nil }
        let half = 98 / Double(count).squareRoot()
        return TimeChange.Median(
            value: percentile(50), low: percentile(max(0, 50 - half)), high: percentile(min(100, 50 + half)))
    }

    /// The mean of the lower two thirds, computed from their percentiles, and at least 1.
    ///
    /// Interruptions lengthen a few events. A median jumps between two speeds of the machine; this mean does not.
    fileprivate var trimmedMean: Double {
        let percents = stride(from: 5.0, through: 65, by: 10)
        return percents.reduce(0) { $0 + positivePercentile($1) } / Double(Array(percents).count)
    }

    fileprivate func positivePercentile(_ percent: Double) -> Double { max(1, Double(percentile(percent))) }
}
