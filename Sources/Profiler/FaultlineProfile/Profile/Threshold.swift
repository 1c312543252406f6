/// A threshold of a rule, which users can set.
package struct Threshold: Sendable, Hashable {
    /// The unit of a threshold.
    package enum Unit: Sendable, Hashable {
        case count
        /// Nanoseconds.
        case time
        /// Bytes.
        case size
        /// From 0 to 1.
        case share
        /// A multiple of another figure.
        case factor
    }

    /// The rule's number, or `"significance"` for a threshold of all rules.
    package let rule: String
    package let name: String
    /// The default.
    package let standard: Double
    package let unit: Unit
    /// The meaning, in words that follow the number: `"minimum rows of a table that is worth an index"`.
    package let meaning: String

    package init(_ rule: String, _ name: String, _ standard: Double, _ unit: Unit, _ meaning: String) {
        (self.rule, self.name, self.standard, self.unit, self.meaning) = (rule, name, standard, unit, meaning)
    }

    /// The value in force, in the base unit (nanoseconds or bytes).
    package var value: Double { Thresholds.inForce[self] }

    /// The value in force as a whole number.
    package var count: UInt64 { UInt64(exactly: value.rounded()) ?? .max }
    package var number: Int { Int(clamping: count) }

    /// The value in force with its unit: `"16 ms"`, `"30 %"`, `"500"`.
    package var text: String { unit.text(value) }
}

extension Threshold.Unit {
    /// A number with its unit, as written in a file.
    package func text(_ value: Double) -> String {
        let units: [(name: String, size: Double)] =
            switch self {
            case .count, .factor: [("", 1)]
            case .time: [(" ns", 1), (" µs", 1e3), (" ms", 1e6), (" s", 1e9)]
            case .size: [(" B", 1), (" KiB", 1024), (" MiB", 1_048_576), (" GiB", 1_073_741_824)]
            case .share: [(" %", 0.01)]
            }
        let unit = units.last { value >= $0.size } ?? units[0]
        // At most three decimals (one for shares), without trailing zeros.
        let decimals = self == .share ? 10.0 : 1000
        let number = (value / unit.size * decimals).rounded() / decimals
        return (Double(Int64(exactly: number) ?? 0) == number ? String(Int64(number)) : String(number)) + unit.name
    }
}

/// The thresholds that differ from their defaults.
///
///     {"R14": {"minimumRows": 5000, "minimumBytes": "16 MiB"}, "significance": {"share": "2 %"}}
///
/// Counts are whole numbers. Times and sizes are strings as in a ``Budget``, shares are strings with `%`, and factors
/// are numbers or strings (`"1.5"`). ``all`` lists the names.
package struct Thresholds: Sendable, Hashable {
    private struct Key: Sendable, Hashable {
        var rule: String
        var name: String
    }

    private var values: [Key: Double] = [:]

    /// Creates the default thresholds.
    package init() {}

    /// The thresholds in force within ``apply(_:)``.
    ///
    /// A task-local value saves passing them to every rule.
    @TaskLocal package static var inForce = Thresholds()

    /// Runs `body` with these thresholds in force.
    ///
    /// Profiles and analyses made in it use them.
    package func apply<Result>(_ body: () throws -> Result) rethrows -> Result {
        try Self.$inForce.withValue(self, operation: body)
    }

    package subscript(_ threshold: Threshold) -> Double {
        get {
            guard !values.isEmpty else { return threshold.standard }
            return values[Key(rule: threshold.rule, name: threshold.name)] ?? threshold.standard
        }
        set {
            // Defaults are not stored, so equal settings compare equal.
            values[Key(rule: threshold.rule, name: threshold.name)] = newValue == threshold.standard ? nil : newValue
        }
    }
}

extension Thresholds {
    /// The thresholds that differ from their defaults, as a list of rule, name and number for a profile file.
    func stored(among all: [Threshold]) -> StoredValue {
        .list(
            all.filter { self[$0] != $0.standard }.map {
                StoredValue([$0.rule, $0.name, String(self[$0])])
            })
    }

    /// Reads thresholds from a profile file.
    ///
    /// Ignores thresholds that this version does not know.
    init(_ value: StoredValue, among all: () -> [Threshold]) throws {
        self.init()
        guard value != .none else { return }
        let all = all()
        for words in try value.map({ try $0.texts() }) where words.count == 3 {
            guard let number = Double(words[2]) else { throw StoredProblem(expected: "a threshold's number") }
            if let threshold = all.first(where: { $0.rule == words[0] && $0.name == words[1] }) {
                self[threshold] = number
            }
        }
    }

}
