internal import FaultlineAnalysis

/// The ticks of a time axis at round times.
struct TimeAxis {
    /// The shown time, in nanoseconds since the trace began.
    let range: ClosedRange<UInt64>
    /// The number of characters.
    let width: Int

    /// The minimum number of characters from a tick to the next.
    private static let spacing = 14.0

    private static let units = [("s", 1e9), ("ms", 1e6), ("µs", 1e3), ("ns", 1.0)]

    private var duration: Double { max(1, Double(range.upperBound - range.lowerBound)) }

    /// The time between two ticks, in nanoseconds: 1, 2 or 5 times a power of ten.
    var step: Double {
        let least = max(1, duration * min(1, Self.spacing / Double(max(1, width))))
        var power = 1.0
        while power * 10 <= least { power *= 10 }
        return [1, 2, 5, 10].map { $0 * power }.first { $0 >= least } ?? power * 10
    }

    /// Returns the axis: a mark at the character of each tick, followed by the time: `│10 ms        │20 ms`.
    var line: String {
        var line = ""
        let step = step
        var number = (Double(range.lowerBound) / step).rounded(.up)
        while number * step <= Double(range.upperBound) {
            let position = Int((number * step - Double(range.lowerBound)) / duration * Double(width))
            let label = "│" + text(of: number * step, step)
            if position + label.count <= width {
                line += String(repeating: " ", count: max(0, position - line.count)) + label
            }
            // Beyond the precision of a number, the next tick would be the same one.
            guard number + 1 > number else { break }
            number += 1
        }
        return line
    }

    /// A time in the largest unit that shows the steps with at most three decimals: `1.204 s`.
    private func text(of time: Double, _ step: Double) -> String {
        let last = Double(range.upperBound)
        for (name, size) in Self.units where size <= max(1, last) {
            var (decimals, rest) = (0, step / size)
            while rest < 1 - 1e-9, decimals <= 3 { (decimals, rest) = (decimals + 1, rest * 10) }
            if decimals <= 3 { return "\(Phrase.decimal(time / size, places: decimals)) \(name)" }
        }
        return Phrase.duration(time)
    }
}
