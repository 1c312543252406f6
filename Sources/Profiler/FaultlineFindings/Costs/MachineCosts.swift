internal import FaultlineProfile
package import FaultlineTrace

/// The cost of a basic step, in nanoseconds, with its range.
package struct StepCost: Sendable, Hashable {
    package var usual: Double
    package var least: Double
    package var most: Double

    /// No cost.
    package static let none = StepCost(usual: 0, least: 0, most: 0)

    package init(usual: Double, least: Double, most: Double) {
        (self.usual, self.least, self.most) = (usual, least, most)
    }
}

/// The costs of basic steps on the machines that recorded a profile's traces.
///
/// Machines differ by a factor of three, so constants measured on one are wrong on another.
package struct MachineCosts: Sendable {
    /// In nanoseconds.
    private let measured: [CalibrationEntry.Step: Double]

    init(_ steps: [String: StepSum]) {
        measured = Dictionary(
            uniqueKeysWithValues: CalibrationEntry.Step.allCases.compactMap { step in
                steps[step.rawValue].flatMap { $0.mean > 0 && StepSum.isPossible($0.mean) ? (step, $0.mean) : nil }
            })
    }

    /// The measured cost of a step.
    ///
    /// - Parameter assumed: The cost to return if no trace has a measured one.
    package func cost(_ step: CalibrationEntry.Step, assumed: StepCost) -> StepCost {
        guard let value = measured[step] else { return assumed }
        let factors = Self.factors(step)
        return StepCost(usual: value * factors.usual, least: value * factors.least, most: value * factors.most)
    }

    /// The minimum cost of a page that SQLite reads from the file, or `nil` if no trace has a measured one.
    package var minimumPage: Double? { measured[.page].map { $0 * Self.factors(.page).least } }

    /// The measured cost of a row of short values that SQLite returns, or `nil` if no trace has one.
    var loadedRow: Double? { measured[.loadedRow] }

    /// The measured cost of a row that SQLite returns, for values of `bytes` bytes, or `nil` if no trace has one.
    package func returnedRow(bytes: Double) -> Double? {
        guard let row = loadedRow, let byte else { return nil }
        return row + bytes * byte
    }

    /// The measured cost of a byte of a long value in a loaded row, or `nil` if no trace has one.
    ///
    /// The calibration loads rows into new memory for the row cache, while programs often reuse memory. So the cost is
    /// reduced by 30 %.
    var byte: Double? { measured[.loadedByte].map { $0 * 0.7 } }
    /// The factor of error of ``byte``.
    static let byteFactor = 3.0

    /// The factors between a program's costs and the measured ones.
    ///
    /// A program's rows have other columns, and its pages and values are less often in the processor's caches.
    private static func factors(_ step: CalibrationEntry.Step) -> StepCost {
        switch step {
        case .passedRow: StepCost(usual: 1.1, least: 0.8, most: 1.6)
        case .comparison: StepCost(usual: 1, least: 0.5, most: 2)
        case .countedRow, .summedRow: StepCost(usual: 1.5, least: 0.3, most: 5)
        case .sortedRow: StepCost(usual: 1, least: 0.5, most: 2)
        case .loadedRow, .loadedByte: StepCost(usual: 1, least: 1, most: 1)
        case .identity: StepCost(usual: 1.1, least: 0.6, most: 2)
        case .passedByte: StepCost(usual: 1.2, least: 0.5, most: 5)
        case .page: StepCost(usual: 2, least: 0.8, most: 8)
        }
    }
}
