public import FaultlineTrace

extension Wording: ExpressibleByStringInterpolation {
    /// Creates a wording from plain text.
    public init(stringLiteral text: String) { self.init(text) }

    /// Creates a wording from an interpolated string.
    public init(stringInterpolation: StringInterpolation) { self = stringInterpolation.wording }

    /// Collects the pieces of an interpolated string.
    public struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var wording: Wording = Wording([])

        /// Creates an empty interpolation.
        public init(literalCapacity: Int, interpolationCount: Int) {}

        /// Appends the literal text between interpolations.
        public mutating func appendLiteral(_ literal: String) { wording.append(.text(literal)) }

        /// Appends text.
        public mutating func appendInterpolation(_ text: String) { wording.append(.text(text)) }

        /// Appends the pieces of another wording.
        public mutating func appendInterpolation(_ other: Wording) { wording += other }

        /// Appends code, SQL or an identifier.
        public mutating func appendInterpolation(code: String) { wording.append(.code(code, isQuoted: false)) }

        /// Appends an entity's name.
        public mutating func appendInterpolation(entity: String) { wording.append(.entity(entity)) }

        /// Appends a property's name or a key path.
        public mutating func appendInterpolation(property: String) {
            wording.append(.property(property, isQuoted: false))
        }

        /// Appends a property's name or a key path, in double quotes in plain text.
        public mutating func appendInterpolation(quoted property: String) {
            wording.append(.property(property, isQuoted: true))
        }

        /// Appends the name of a scope, in double quotes in plain text.
        public mutating func appendInterpolation(scope: String) { wording.append(.code(scope, isQuoted: true)) }

        /// Appends a line of the program.
        public mutating func appendInterpolation(site: CallSite) { wording.append(.site(site)) }
    }
}

// MARK: Numbers

extension Wording.StringInterpolation {
    /// Appends a count without a noun: `1,204`.
    ///
    /// - Parameter unit: The unit of the number. Default: a count.
    public mutating func appendInterpolation(count number: some BinaryInteger, of unit: Evidence.Unit = .count) {
        wording.append(.quantity(Quantity(number, unit)))
    }

    /// Appends a count with its noun: `1 fetch`, `20 fetches`.
    ///
    /// - Parameter plural: The noun's plural. The default adds an s.
    public mutating func appendInterpolation(
        count number: some BinaryInteger, _ noun: String, plural: String? = nil
    ) {
        wording.append(.quantity(Quantity(number, .count, noun, plural: plural)))
    }

    /// Appends a number of rows: `20 rows`.
    ///
    /// - Parameter noun: The noun in the singular, such as `"loaded row"`.
    public mutating func appendInterpolation(rows number: some BinaryInteger, _ noun: String = "row") {
        wording.append(.quantity(Quantity(number, .rows, noun)))
    }

    /// Appends a number of round trips: `3 trips`.
    ///
    /// - Parameter noun: The noun in the singular, such as `"round trip"`.
    public mutating func appendInterpolation(trips number: some BinaryInteger, _ noun: String = "trip") {
        wording.append(.quantity(Quantity(number, .trips, noun)))
    }

    /// Appends a whole number without separators, as in code: `1500`.
    public mutating func appendInterpolation(plain number: UInt64, of unit: Evidence.Unit = .count) {
        wording.append(.quantity(Quantity(.whole(number), unit, style: .plain)))
    }

    /// Appends a number with a fixed number of decimals: `2.5`.
    public mutating func appendInterpolation(decimal number: Double, places: Int, of unit: Evidence.Unit = .count) {
        wording.append(.quantity(Quantity(.real(number), unit, style: .decimal(places: places))))
    }

    /// Appends a time in nanoseconds: `12.3 ms`.
    public mutating func appendInterpolation(duration nanoseconds: Double) {
        wording.append(.quantity(Quantity(.real(nanoseconds), .nanoseconds)))
    }

    /// Appends a time in nanoseconds: `12.3 ms`.
    public mutating func appendInterpolation(duration nanoseconds: UInt64) {
        wording.append(.quantity(Quantity(.whole(nanoseconds), .nanoseconds)))
    }

    /// Appends a time with its range: `12.3 ms (11.8–12.9 ms)`.
    public mutating func appendInterpolation(duration range: Saving.Range) {
        wording.append(.quantity(Quantity(.real(range.median), .nanoseconds, range: range)))
    }

    /// Appends the range of a time: `11.8–12.9 ms`.
    public mutating func appendInterpolation(span range: Saving.Range) {
        wording.append(.quantity(Quantity(.real(range.median), .nanoseconds, range: range, style: .span)))
    }

    /// Appends a size in bytes: `18.5 KiB`.
    public mutating func appendInterpolation(size bytes: Double) {
        wording.append(.quantity(Quantity(.real(bytes), .bytes)))
    }

    /// Appends a size in bytes: `18.5 KiB`.
    public mutating func appendInterpolation(size bytes: UInt64) {
        wording.append(.quantity(Quantity(.whole(bytes), .bytes)))
    }

    /// Appends a share from 0 to 1 as a percentage: `41 %`.
    public mutating func appendInterpolation(percent share: Double) {
        wording.append(.quantity(Quantity(.real(share), .share)))
    }

    /// Appends the value of a threshold in force, as written in a thresholds file: `16 ms`.
    mutating func appendInterpolation(threshold: Threshold) {
        let unit: Evidence.Unit =
            switch threshold.unit {
            case .count, .factor: .count
            case .time: .nanoseconds
            case .size: .bytes
            case .share: .share
            }
        wording.append(.quantity(Quantity(.real(threshold.value), unit, style: .setting(threshold.unit))))
    }
}
