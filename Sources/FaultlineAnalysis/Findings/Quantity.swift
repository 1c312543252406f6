/// A number in a sentence, with its unit and its plain-text form.
public struct Quantity: Sendable, Hashable {
    /// A number, exact if it is whole.
    public enum Amount: Sendable, Hashable {
        case whole(UInt64)
        case real(Double)
    }

    /// The plain-text form of a number.
    enum Style: Sendable, Hashable {
        /// The default for the unit: whole numbers with thousands separators, times and sizes with three digits.
        case usual
        /// A whole number without separators, as in code: `1500`.
        case plain
        /// A number with a fixed number of decimals.
        case decimal(places: Int)
        /// The form used in a thresholds file: `16 ms`, `30 %`.
        case setting(Threshold.Unit)
        /// The range alone, without the median.
        case span
    }

    /// The number, in the unit's base unit (nanoseconds or bytes).
    ///
    /// For a range, the median.
    public let amount: Amount
    /// The unit.
    public let unit: Evidence.Unit
    /// The range of the value, or `nil` if it is certain.
    public let range: ClosedRange<Double>?
    /// The noun after the number, such as `"fetch"` or `"fetches"`, or `nil` if there is none.
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

    /// Creates a whole number with its noun in the singular or plural.
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

    /// The plain text: `1,204 fetches`, `12.3 ms (11.8–12.9 ms)`, `41 %`.
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
