internal import FaultlineTrace

/// The cost of a basic step, in nanoseconds, and the range in which it lies.
struct StepCost: Sendable, Hashable {
    var usual: Double
    var least: Double
    var most: Double
}

/// The costs of basic steps on the machines where a profile's traces were recorded.
///
/// Machines differ in them by a factor of three, so constants that hold on one of them are wrong on the next.
struct MachineCosts: Sendable {
    /// In nanoseconds.
    private let measured: [CalibrationEntry.Step: Double]

    init(_ steps: [String: StepSum]) {
        measured = Dictionary(
            uniqueKeysWithValues: CalibrationEntry.Step.allCases.compactMap { step in
                steps[step.rawValue].map { (step, $0.mean) }
            })
    }

    /// The measured cost of a step.
    ///
    /// - Parameter assumed: The cost where no trace has a measured one.
    func cost(_ step: CalibrationEntry.Step, assumed: StepCost) -> StepCost {
        guard let value = measured[step] else { return assumed }
        let factors = Self.factors(step)
        return StepCost(usual: value * factors.usual, least: value * factors.least, most: value * factors.most)
    }

    /// The measured cost of a row of short values that SQLite hands out; `nil`: no trace has one.
    var loadedRow: Double? { measured[.loadedRow] }

    /// The measured cost of a row that SQLite hands out, by the bytes of its values; `nil`: no trace has one.
    func handedOutRow(bytes: Double) -> Double? {
        guard let row = loadedRow, let byte else { return nil }
        return row + bytes * byte
    }

    /// The measured cost of a byte of a long value in a row that is loaded; `nil`: no trace has one.
    var byte: Double? { measured[.loadedByte].map { $0 * Self.factors(.loadedByte).usual } }

    /// How a program's costs compare with those that were measured: its rows have other columns, and its pages and values are
    /// less often in the processor's caches.
    private static func factors(_ step: CalibrationEntry.Step) -> StepCost {
        switch step {
        case .passedRow: StepCost(usual: 1.1, least: 0.8, most: 1.6)
        case .comparison: StepCost(usual: 1, least: 0.5, most: 2)
        case .countedRow, .summedRow: StepCost(usual: 1.5, least: 0.3, most: 5)
        case .sortedRow: StepCost(usual: 1, least: 0.5, most: 2)
        case .loadedRow: StepCost(usual: 1, least: 0.6, most: 1.6)
        case .loadedByte: StepCost(usual: 0.7, least: 0.25, most: 2.1)
        case .identity: StepCost(usual: 1.1, least: 0.6, most: 2)
        case .passedByte: StepCost(usual: 1.2, least: 0.5, most: 5)
        case .page: StepCost(usual: 2, least: 0.8, most: 8)
        }
    }
}

/// Measurements of a step on one machine or several.
struct StepSum: Sendable, Hashable {
    private(set) var count: UInt64 = 0
    /// In picoseconds: bytes take less than a nanosecond.
    private(set) var time: UInt64 = 0

    /// What no step takes is damage.
    private static let longest = 1e6

    /// Whether a step can take so many nanoseconds.
    static func isPossible(_ value: Double) -> Bool { value >= 0 && value <= longest }

    /// Adds a measurement, in nanoseconds, if it can be one.
    mutating func add(_ value: Double) {
        guard Self.isPossible(value) else { return }
        count &+= 1
        time &+= UInt64(value * 1000)
    }

    /// In nanoseconds.
    var mean: Double { Double(time) / Double(max(1, count)) / 1000 }
}

extension StepSum: Summed, StartsEmpty {
    static let parts: [SumPart<StepSum>] = [.sum("count", \.count), .sum("time", \.time)]
}
