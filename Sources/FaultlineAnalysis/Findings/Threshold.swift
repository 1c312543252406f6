public import Foundation

/// A number that a rule judges by, and that a user can set.
public struct Threshold: Sendable, Hashable {
    /// What it is a number of.
    public enum Unit: Sendable, Hashable {
        case count
        /// Nanoseconds.
        case time
        /// Bytes.
        case size
        /// 0…1.
        case share
        /// How many times something else.
        case factor
    }

    /// The rule's number, or `"significance"` for what all rules go by.
    public let rule: String
    public let name: String
    /// What it is unless somebody sets it.
    public let standard: Double
    public let unit: Unit
    /// What it is the least or the most of, in words that follow the number: `"minimum rows of a table that is worth an index"`.
    public let meaning: String

    init(_ rule: String, _ name: String, _ standard: Double, _ unit: Unit, _ meaning: String) {
        (self.rule, self.name, self.standard, self.unit, self.meaning) = (rule, name, standard, unit, meaning)
    }

    /// What is in force, in nanoseconds, bytes or as it is.
    package var value: Double { Thresholds.inForce[self] }

    /// The same as a whole number.
    var count: UInt64 { UInt64(exactly: value.rounded()) ?? .max }
    var number: Int { Int(clamping: count) }

    /// The same as it is written: `"16 ms"`, `"30 %"`, `"500"`.
    package var text: String { unit.text(value) }
}

extension Threshold.Unit {
    /// A number with its unit, as files have it.
    package func text(_ value: Double) -> String {
        let units: [(name: String, size: Double)] =
            switch self {
            case .count, .factor: [("", 1)]
            case .time: [(" ns", 1), (" µs", 1e3), (" ms", 1e6), (" s", 1e9)]
            case .size: [(" B", 1), (" KiB", 1024), (" MiB", 1_048_576), (" GiB", 1_073_741_824)]
            case .share: [(" %", 0.01)]
            }
        let unit = units.last { value >= $0.size } ?? units[0]
        // As many decimals as it has, and three at most.
        let decimals = self == .share ? 10.0 : 1000
        let number = (value / unit.size * decimals).rounded() / decimals
        return (Double(Int64(exactly: number) ?? 0) == number ? String(Int64(number)) : String(number)) + unit.name
    }
}

/// The numbers that rules judge by, as far as they are not the standard ones.
///
///     {"R14": {"minimumRows": 5000, "minimumBytes": "16 MiB"}, "significance": {"share": "2 %"}}
///
/// Counts are whole numbers, times and sizes texts as in a ``Budget``, shares texts with `%`, factors numbers or texts
/// (`"1.5"`). ``all`` has their names.
public struct Thresholds: Sendable, Hashable {
    private struct Key: Sendable, Hashable {
        var rule: String
        var name: String
    }

    private var values: [Key: Double] = [:]

    /// Those of no setting: the standard ones.
    public init() {}

    /// All that there are, by rule.
    public static var all: [Threshold] { Rules.all.flatMap(\.thresholds) + Significance.thresholds }

    /// What rules go by within ``apply(_:)``, so that none has to hand it on.
    @TaskLocal static var inForce = Thresholds()

    /// Runs `body`, in which traces are summed up and analysed, by these numbers.
    public func apply<Result>(_ body: () throws -> Result) rethrows -> Result {
        try Self.$inForce.withValue(self, operation: body)
    }

    subscript(_ threshold: Threshold) -> Double {
        get {
            guard !values.isEmpty else { return threshold.standard }
            return values[Key(rule: threshold.rule, name: threshold.name)] ?? threshold.standard
        }
        set {
            // Equal settings are equal values, however they came about.
            values[Key(rule: threshold.rule, name: threshold.name)] = newValue == threshold.standard ? nil : newValue
        }
    }
}

extension Thresholds {
    /// The numbers that two settings have differently, by rule and name.
    func differences(from other: Thresholds) -> [String] {
        Self.all.filter { self[$0] != other[$0] }.map { "\($0.rule) \($0.name)" }
    }

    /// What differs from the standard, as a profile's file has it: a list of rule, name and number.
    var stored: StoredValue {
        .list(
            Self.all.filter { self[$0] != $0.standard }.map {
                StoredValue([$0.rule, $0.name, String(self[$0])])
            })
    }

    /// Reads what a profile's file has.
    ///
    /// A threshold that this version does not know is left out.
    init(_ value: StoredValue) throws {
        self.init()
        guard value != .none else { return }
        for words in try value.map({ try $0.texts() }) where words.count == 3 {
            guard let number = Double(words[2]) else { throw StoredProblem(expected: "a threshold's number") }
            if let threshold = Self.all.first(where: { $0.rule == words[0] && $0.name == words[1] }) {
                self[threshold] = number
            }
        }
    }

    /// Reads a file of thresholds.
    ///
    /// - Throws: ``BudgetError`` if it is no JSON, or names what there is not, or has something else than a number where one
    ///   must stand: a mistyped threshold would change nothing.
    public init(json data: Data) throws(BudgetError) {
        self.init()
        try BudgetError.reading(data) { file in
            let all = Self.all
            try file.expectMembers(all.map(\.rule).uniqued)
            for rule in try file.memberNames() {
                let known = all.filter { $0.rule == rule }
                try file.member(rule) { settings in
                    try settings.expectMembers(known.map(\.name))
                    for threshold in known {
                        try settings.member(threshold.name) { value in
                            if value != .none { self[threshold] = try value.amount(of: threshold.unit) }
                        }
                    }
                }
            }
        }
    }
}
