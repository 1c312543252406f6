/// How long the events of an operation took before and after, and whether that is more than noise.
public struct TimeChange: Sendable, Hashable {
    public enum Direction: String, Sendable, Hashable {
        case faster, slower, same
    }

    /// A median and the bounds within which it lies with 95 % confidence, in nanoseconds.
    public struct Median: Sendable, Hashable {
        public var value: UInt64
        public var low: UInt64
        public var high: UInt64
    }

    public let before: Median
    public let after: Median
    public let direction: Direction

    /// Events from which on there is a median with bounds: of five, even the least and the greatest hold it in no more than
    /// 94 of 100 cases.
    static let minimumEvents: UInt64 = 6
    /// The least change that is told, beyond what all operations have in common.
    ///
    /// Bounds within one run know nothing of what makes the next run different.
    static let leastRatio = 1.25

    /// The least share of the store's time that a change must make up to be told.
    static let leastShare = 0.01

    /// - Parameters:
    ///   - pace: What all operations' times have in common.
    ///   - matters: Whether so many nanoseconds an event are worth telling.
    /// - Returns: `nil` if one side has too few events.
    init?(_ before: EventGroup, _ after: EventGroup, pace: Double, matters: (Double) -> Bool) {
        guard let old = before.durations.medianBounds, let new = after.durations.medianBounds else { return nil }
        self.before = old
        self.after = new
        let ratio = { (after: UInt64, before: UInt64) in Double(after) / max(1, Double(before)) }
        let (least, most) = (ratio(new.low, old.high), ratio(new.high, old.low))
        let middle = ratio(new.value, old.value)
        guard matters(abs(Double(new.value) - Double(old.value) * pace)) else {
            direction = .same
            return
        }
        // What only got slower with everything is the same, and so is what did not when everything else did.
        if least > max(1, pace), middle >= Self.leastRatio * max(1, pace) {
            direction = .slower
        } else if most < min(1, pace), middle <= min(1, pace) / Self.leastRatio {
            direction = .faster
        } else {
            direction = .same
        }
    }

    /// Operations from which on something can be told of all of them.
    private static let minimumOperations = 5

    /// How many times as long operations take after as before: the median over those that have enough events; 1 if they are
    /// too few.
    static func pace(_ pairs: [(EventGroup?, EventGroup?)]) -> Double {
        let ratios = pairs.compactMap { before, after -> Double? in
            guard let old = before?.durations, let new = after?.durations, old.count >= minimumEvents,
                new.count >= minimumEvents
            else { return nil }
            let (median, other) = (Double(old.percentile(50)), Double(new.percentile(50)))
            return median > 0 && other > 0 ? other / median : nil
        }.sorted()
        return ratios.count >= minimumOperations ? ratios[ratios.count / 2] : 1
    }
}

extension Distribution {
    /// The median, and the order statistics that hold it with 95 % confidence, whatever the distribution is (the normal
    /// approximation of the binomial; NIST's Engineering Statistics Handbook, section 7.2.5.4); `nil`: too few values.
    var medianBounds: TimeChange.Median? {
        guard count >= TimeChange.minimumEvents else { return nil }
        let half = 98 / Double(count).squareRoot()
        return TimeChange.Median(
            value: percentile(50), low: percentile(max(0, 50 - half)), high: percentile(min(100, 50 + half)))
    }
}
