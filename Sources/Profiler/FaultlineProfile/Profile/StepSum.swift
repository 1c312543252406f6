/// The measurements of a step on one or more machines.
package struct StepSum: Sendable, Hashable {
    private(set) var count: UInt64 = 0
    /// In picoseconds, because a byte takes less than a nanosecond.
    private(set) var time: UInt64 = 0

    /// In nanoseconds.
    ///
    /// A longer time is damaged data.
    private static let longest = 1e6

    /// Creates a sum without measurements.
    package init() {}

    /// Creates a sum of one measurement, in nanoseconds, or returns `nil` if the value is not plausible.
    init?(_ value: Double) {
        guard Self.isPossible(value) else { return nil }
        (count, time) = (1, UInt64(value * 1000))
    }

    /// Whether a step can take `value` nanoseconds.
    package static func isPossible(_ value: Double) -> Bool { value >= 0 && value <= longest }

    /// The mean, in nanoseconds.
    package var mean: Double { Double(time) / Double(max(1, count)) / 1000 }
}

extension StepSum: Summed, StartsEmpty {
    package static let parts: [SumPart<StepSum>] = [.sum("count", \.count), .sum("time", \.time)]
}
