internal import Foundation

/// Tells a change of an operation's time from what makes any two runs differ.
///
/// Two runs of one program differ by more than the events of either show: the machine's speed changes from one moment to the
/// next, and with it all operations of that moment. Hence an operation is compared with its siblings, the operations that
/// ran at the same time as it on both sides. What they have in common is the pace, and their spread around it is the noise.
/// An operation has changed if it stands out among them.
///
/// - The time of an operation is the mean of the lower two thirds of its events, without waits for a CPU: interrupted
///   events do not count.
/// - The noise is the siblings' robust spread (their median absolute deviation, and their 80 % point for tails that it does
///   not see), and the operation's own error. A change must exceed it by a factor that grows with the number of operations:
///   a diff of many asks many questions.
/// - An operation without siblings may have run while the machine was slow by chance. It must change by 1.8 × in one run.
///   A sum of several runs saw several moments, and asks for less.
/// - The first quartile and the median must agree.
struct TimeNoise {
    /// Times of one operation on both sides, by its place among the operations; `nil`: too few events.
    private let pairs: [TimePair?]
    /// How many runs the side with fewer of them is the sum of.
    private let runs: Double
    /// The factor that a change must exceed the noise by.
    private let strictness: Double

    /// The least change of an operation with siblings that is reported, and of one without.
    private static let (leastRatio, leastLonelyRatio) = (1.15, 1.8)
    /// The least share of the store's time that a change must make up.
    static let leastShare = 0.01
    /// The part of their time that siblings share at least.
    static let leastOverlap = 0.8
    /// The minimum number of operations that tell the pace.
    private static let leastSiblings = 4
    /// The noise of one operation at least, and where no others tell it, as logarithms.
    private static let (leastNoise, unknownNoise) = (0.03, 0.3)

    init(_ pairs: [(EventGroup?, EventGroup?)], traces: (before: UInt64, after: UInt64)) {
        self.pairs = pairs.map { before, after in before.flatMap { old in after.flatMap { TimePair(old, $0) } } }
        runs = Double(min(traces.before, traces.after))
        let count = self.pairs.count { $0 != nil }
        strictness = 3 * (1 + log(Double(max(1, count))) / 6).squareRoot()
    }

    /// How many times as long operations take after as before: the median over those that have enough events; 1 if they are
    /// too few.
    var pace: Double {
        let ratios = pairs.compactMap { $0?.ratio }.sorted()
        return ratios.count > Self.leastSiblings ? ratios[ratios.count / 2] : 1
    }

    /// How many times as long the run took throughout, where operations are too few to tell a pace: all of them took longer,
    /// or all of them less long, by the ratio of the one that changed least; 1 if they differ.
    var commonRatio: Double {
        let ratios = pairs.compactMap { $0?.ratio }
        guard let least = ratios.min(), let most = ratios.max() else { return 1 }
        return least > 1 ? least : most < 1 ? most : 1
    }

    /// - Parameter matters: Whether so many nanoseconds an event are worth reporting.
    /// - Returns: `nil` if one side has too few events.
    func judge(_ index: Int, matters: (Double) -> Bool) -> TimeChange? {
        guard let pair = pairs[index] else { return nil }
        // Most operations matter at no pace.
        guard matters(Double(max(pair.before.value, pair.after.value))) else {
            return TimeChange(before: pair.before, after: pair.after, direction: .same, leastRatio: nil)
        }
        let standard = standard(for: pair, at: index)
        return TimeChange(
            before: pair.before, after: pair.after, direction: direction(of: pair, by: standard, matters: matters),
            leastRatio: exp(standard.needed))
    }

    /// The standard that an operation's change is measured against.
    private struct Standard {
        /// Whether the operation ran beside too few others to tell the pace of its moment.
        var isAlone: Bool
        /// What the other operations have in common, and how far a change must be from it, as logarithms.
        var pace: Double
        var needed: Double
    }

    private func standard(for pair: TimePair, at index: Int) -> Standard {
        let others = pairs.indices.filter { $0 != index }.compactMap { pairs[$0] }
        let siblings = others.filter { pair.isBeside($0) }
        let isAlone = siblings.count < Self.leastSiblings
        let changes = (isAlone ? others : siblings).map(\.change).sorted()
        let isPaced = changes.count >= Self.leastSiblings
        let pace = isPaced ? changes.middle : 0
        // Chances of several runs even out.
        let noise = isPaced ? Self.noise(of: changes, around: pace) : Self.unknownNoise / runs.squareRoot()
        let error = isAlone ? pair.error : pair.error / 2
        let least = isAlone ? log(Self.leastLonelyRatio) / runs.squareRoot() : log(Self.leastRatio)
        return Standard(
            isAlone: isAlone, pace: pace, needed: max(least, log(Self.leastRatio), strictness * hypot(noise, error)))
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
            // As long as before while all others take twice as long tells nothing here: they ran at another time.
            guard pair.change * sign > 0 else { return .same }
            let (low, high) = sign > 0 ? (pair.before, pair.after) : (pair.after, pair.before)
            guard Double(high.low) > Double(low.high) * exp(pace * sign) else { return .same }
        }
        return sign > 0 ? .slower : .faster
    }

    /// The spread of logarithms around their middle.
    private static func noise(of changes: [Double], around middle: Double) -> Double {
        let deviations = changes.map { abs($0 - middle) }.sorted()
        // 1.4826 makes the standard deviation of the median deviation, where values are normal; 1.28 of them are 80 %.
        let tail = deviations[min(deviations.count - 1, deviations.count * 4 / 5)] / 1.28
        return max(leastNoise, 1.4826 * deviations.middle, tail)
    }
}

extension [Double] {
    /// The middle of sorted values.
    fileprivate var middle: Double {
        count % 2 == 1 ? self[count / 2] : (self[count / 2 - 1] + self[count / 2]) / 2
    }
}
