internal import FaultlineProfile
internal import Foundation

/// Separates a change of an operation's time from the noise between any two runs.
///
/// Two runs of one program differ by more than the events of either show: the machine's speed changes from moment to
/// moment, and slows or speeds all operations of that moment. An operation is therefore compared with its siblings, the
/// operations that ran at the same time on both sides. The change they share is the pace, and their spread around it is
/// the noise. An operation has changed if it stands out among its siblings.
///
/// - An operation's time is the mean of the lower two thirds of its events, without waits for a CPU. This excludes
///   interrupted events.
/// - The noise combines the siblings' robust spread (their median absolute deviation, or their 80 % point for heavier
///   tails) and the operation's own error. A change must exceed it by a factor that grows with the number of
///   operations, because a diff of many operations makes many comparisons.
/// - An operation without siblings may have run while the machine happened to be slow. If either side is one run, it
///   must change by a factor of 1.8. A sum of several runs covers several moments, and needs less.
/// - The first quartile and the median must agree.
struct TimeNoise {
    /// The times of each operation on both sides, or `nil` for an operation with too few events.
    private let pairs: [TimePair?]
    /// The number of runs on the side with fewer of them.
    private let runs: Double
    /// The factor by which a change must exceed the noise.
    private let strictness: Double

    /// The smallest change that is reported of an operation with siblings, and of one without.
    private static let (minimumRatio, minimumLonelyRatio) = (1.15, 1.8)
    /// The minimum share of the store's time that a change must amount to.
    static let minimumShare = 0.01
    /// The minimum share of their time for which siblings overlap.
    static let minimumOverlap = 0.8
    /// The minimum number of operations that establish a pace.
    private static let minimumSiblings = 4
    /// The minimum noise of an operation, and the noise assumed without other operations, as logarithms.
    private static let (minimumNoise, unknownNoise) = (0.03, 0.3)

    init(_ pairs: [(EventGroup?, EventGroup?)], traces: (before: UInt64, after: UInt64)) {
        self.pairs = pairs.map { before, after in before.flatMap { old in after.flatMap { TimePair(old, $0) } } }
        runs = Double(min(traces.before, traces.after))
        let count = self.pairs.count { $0 != nil }
        strictness = 3 * (1 + log(Double(max(1, count))) / 6).squareRoot()
    }

    /// The median ratio of times, after to before, over the operations with enough events.
    ///
    /// 1 if there are too few operations.
    var pace: Double {
        let ratios = pairs.compactMap { $0?.ratio }.sorted()
        return ratios.count > Self.minimumSiblings ? ratios[ratios.count / 2] : 1
    }

    /// The change of the whole run, if there are too few operations for a pace.
    ///
    /// If all operations got slower, or all got faster, it is the ratio of the one that changed least. Otherwise it is
    /// 1.
    var commonRatio: Double {
        let ratios = pairs.compactMap { $0?.ratio }
        // A single operation may have changed by itself.
        guard ratios.count > 1, let least = ratios.min(), let most = ratios.max() else { return 1 }
        return least > 1 ? least : most < 1 ? most : 1
    }

    /// - Parameter matters: Whether a difference of that many nanoseconds per event is worth reporting.
    /// - Returns: The change, or `nil` if one side has too few events.
    func evaluate(_ index: Int, matters: (Double) -> Bool) -> TimeChange? {
        guard let pair = pairs[index] else { return nil }
        // Most operations are too small to matter at any pace.
        guard matters(Double(max(pair.before.value, pair.after.value))) else {
            return TimeChange(before: pair.before, after: pair.after, direction: .same, minimumRatio: nil)
        }
        let standard = standard(for: pair, at: index)
        return TimeChange(
            before: pair.before, after: pair.after, direction: direction(of: pair, by: standard, matters: matters),
            minimumRatio: exp(standard.needed))
    }

    /// The standard that an operation's change is compared with.
    private struct Standard {
        /// Whether the operation has too few siblings to establish the pace of its moment.
        var isAlone: Bool
        /// The pace of the other operations, and the distance a change must have from it, as logarithms.
        var pace: Double
        var needed: Double
    }

    private func standard(for pair: TimePair, at index: Int) -> Standard {
        let others = pairs.indices.filter { $0 != index }.compactMap { pairs[$0] }
        let siblings = others.filter { pair.runsBeside($0) }
        let isAlone = siblings.count < Self.minimumSiblings
        let changes = (isAlone ? others : siblings).map(\.change).sorted()
        let isPaced = changes.count >= Self.minimumSiblings
        let pace = isPaced ? changes.middle : 0
        // Chance variations average out over several runs.
        let noise = isPaced ? Self.noise(of: changes, around: pace) : Self.unknownNoise / runs.squareRoot()
        let error = isAlone ? pair.error : pair.error / 2
        let least = isAlone ? log(Self.minimumLonelyRatio) / runs.squareRoot() : log(Self.minimumRatio)
        return Standard(
            isAlone: isAlone, pace: pace, needed: max(least, log(Self.minimumRatio), strictness * hypot(noise, error)))
    }

    private func direction(
        of pair: TimePair, by standard: Standard, matters: (Double) -> Bool
    ) -> TimeChange.Direction {
        let pace = standard.pace
        guard matters(abs(Double(pair.after.value) - Double(pair.before.value) * exp(pace))) else { return .same }
        let change = pair.change - pace
        guard abs(change) >= standard.needed else { return .same }
        let sign = change > 0 ? 1.0 : -1
        let agree = [pair.quartileChange, pair.medianChange].allSatisfy { ($0 - pace) * sign >= standard.needed * 0.3 }
        guard agree else { return .same }
        if standard.isAlone {
            // An unchanged time while all others doubled proves nothing here, because they ran at other times.
            guard pair.change * sign > 0 else { return .same }
            let (low, high) = sign > 0 ? (pair.before, pair.after) : (pair.after, pair.before)
            guard Double(high.low) > Double(low.high) * exp(pace * sign) else { return .same }
        }
        return sign > 0 ? .slower : .faster
    }

    /// The spread of logarithms around their median.
    private static func noise(of changes: [Double], around middle: Double) -> Double {
        let deviations = changes.map { abs($0 - middle) }.sorted()
        // For normal values, the standard deviation is 1.4826 median deviations, and 1.28 of them cover 80 %.
        let tail = deviations[min(deviations.count - 1, deviations.count * 4 / 5)] / 1.28
        return max(minimumNoise, 1.4826 * deviations.middle, tail)
    }
}

extension [Double] {
    /// The median of sorted values.
    fileprivate var middle: Double {
        count % 2 == 1 ? self[count / 2] : (self[count / 2 - 1] + self[count / 2]) / 2
    }
}

/// The durations of an operation's events before and after, and whether they differ by more than noise.
///
/// If the trace records waits for a CPU, they are subtracted. ``TimeNoise`` judges the difference.
package struct TimeChange: Sendable, Hashable {
    package enum Direction: String, Sendable, Hashable, CaseIterable {
        case faster, slower, same
    }

    /// A median and its 95 % confidence bounds, in nanoseconds.
    package struct Median: Sendable, Hashable {
        package var value: UInt64
        package var low: UInt64
        package var high: UInt64
    }

    package let before: Median
    package let after: Median
    package let direction: Direction
    /// The smallest ratio of the two times that counts as a change, greater than 1, once the pace of all operations is
    /// removed.
    ///
    /// Smaller ratios are within the noise of the runs. `nil` if the operation takes too little of the store's time for
    /// any change to be reported.
    package let minimumRatio: Double?

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
