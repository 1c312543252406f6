internal import FaultlineFindings
internal import FaultlineProfile

/// A logarithmic scale of durations, on which histograms of a few characters can be compared.
///
///     ▂█▁    ▁
struct DurationScale {
    /// The number of characters of a histogram.
    static let steps = 8

    /// The ends of the scale, as powers of ten of nanoseconds.
    private let exponents: Range<Int>
    /// The durations at which each step but the first begins.
    private let bounds: [UInt64]

    /// Creates the scale for several distributions, from a power of ten to another.
    ///
    /// It is `nil` if no duration is above 0.
    init?(_ distributions: [Distribution]) {
        let known = distributions.filter { $0.maximum > 0 }
        guard let least = known.map(\.minimum).min(), let most = known.map(\.maximum).max() else { return nil }
        let low = Self.exponent(notAbove: max(1, least))
        let high = Self.exponent(notAbove: most)
        exponents = low..<(high + 1)
        let (start, length) = (Double(low), Double(high + 1 - low))
        bounds = (1..<Self.steps).map { step in
            UInt64(min(1e19, Self.power(start + length * Double(step) / Double(Self.steps))))
        }
    }

    /// The ends of the scale: `100 ns to 10 ms`.
    var words: String { "\(Self.words(exponents.lowerBound)) to \(Self.words(exponents.upperBound))" }

    /// Returns the histogram of a distribution, whose fullest step has the full height.
    func histogram(_ durations: Distribution) -> String {
        Blocks.text(durations.counts(between: bounds).map(Double.init))
    }

    private static func exponent(notAbove value: UInt64) -> Int {
        var (exponent, rest) = (0, value)
        while rest >= 10 { (exponent, rest) = (exponent + 1, rest / 10) }
        return exponent
    }

    /// Ten to the power of a number.
    private static func power(_ exponent: Double) -> Double {
        let whole = exponent.rounded(.down)
        var value = 1.0
        for _ in 0..<Int(whole) { value *= 10 }
        // Eighths of a decade: the eighth root of ten, as often as needed.
        let root = 10.0.squareRoot().squareRoot().squareRoot()
        for _ in 0..<Int(((exponent - whole) * 8).rounded()) { value *= root }
        return value
    }

    private static func words(_ exponent: Int) -> String {
        let units = ["ns", "µs", "ms", "s"]
        let unit = min(units.count - 1, exponent / 3)
        let number = ["1", "10", "100"]
        let rest = exponent - 3 * unit
        return "\(rest < 3 ? number[rest] : Phrase.count(UInt64(power(Double(rest))))) \(units[unit])"
    }
}
