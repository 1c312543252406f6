/// A number within a sentence: its value and unit, and how plain text writes it.
public struct Quantity: Sendable, Hashable {
    /// A number, exact where it is whole.
    public enum Amount: Sendable, Hashable {
        case whole(UInt64)
        case real(Double)
    }

    /// How plain text writes the number.
    enum Style: Sendable, Hashable {
        /// As the unit suggests: whole numbers in groups of three digits, times and sizes with three digits.
        case usual
        /// A whole number without groups, as code has it: `1500`.
        case plain
        /// With so many decimals.
        case decimal(places: Int)
        /// As a file of thresholds has it: `16 ms`, `30 %`.
        case setting(Threshold.Unit)
        /// The range alone, without the median.
        case span
    }

    /// The number, in nanoseconds, bytes or as it is; the median of a range.
    public let amount: Amount
    /// What it is a number of.
    public let unit: Evidence.Unit
    /// The range in which the value lies; `nil`: it is certain.
    public let range: ClosedRange<Double>?
    /// The noun after the number: `"fetch"`, `"fetches"`; `nil`: the number stands alone.
    public let noun: String?
    private let style: Style

    init(
        _ amount: Amount, _ unit: Evidence.Unit, noun: String? = nil, range: Saving.Range? = nil, style: Style = .usual
    ) {
        self.amount = amount
        self.unit = unit
        self.noun = noun
        self.range = range.map { min($0.low, $0.high)...max($0.low, $0.high) }
        self.style = style
    }

    /// A whole number, with the noun in the singular or plural that suits it.
    init(_ number: some BinaryInteger, _ unit: Evidence.Unit, _ noun: String? = nil, plural: String? = nil) {
        let amount = UInt64(exactly: number).map(Amount.whole) ?? .real(Double(number))
        self.init(amount, unit, noun: noun.map { number == 1 ? $0 : plural ?? $0 + "s" })
    }

    /// The number: nanoseconds, bytes, a share in 0…1, or a count.
    public var value: Double {
        switch amount {
        case .whole(let number): Double(number)
        case .real(let number): number
        }
    }

    /// The number as a sentence has it: `1,204 fetches`, `12.3 ms (11.8–12.9 ms)`, `41 %`.
    public var text: String { noun.map { "\(number) \($0)" } ?? number }

    private var number: String {
        switch (style, unit) {
        case (.setting(let unit), _): return unit.text(value)
        case (.decimal(let places), _): return Phrase.decimal(value, places: places)
        case (.span, _): return Phrase.span(bounds)
        case (_, .nanoseconds): return range == nil ? Phrase.duration(value) : Phrase.duration(bounds)
        case (_, .bytes): return Phrase.size(value)
        case (_, .share): return Phrase.percent(value)
        case (_, .count), (_, .rows), (_, .trips):
            guard case .whole(let number) = amount else { return Phrase.decimal(value, places: 0) }
            return style == .plain ? String(number) : Phrase.count(number)
        }
    }

    private var bounds: Saving.Range {
        Saving.Range(median: value, low: range?.lowerBound ?? value, high: range?.upperBound ?? value)
    }
}
