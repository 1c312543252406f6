import Foundation

/// One way to do a piece of work.
struct Arm {
    let name: String
    /// Does the work and returns the CPU time of the part of interest, in nanoseconds.
    let sample: () throws -> Double

    init(_ name: String, _ sample: @escaping () throws -> Double) {
        self.name = name
        self.sample = sample
    }
}

/// Arms that do the same work in one process, with their budgets.
struct Comparison {
    let name: String
    /// The number of operations per sample.
    let operations: Int
    /// The first arm is run twice to measure noise.
    let arms: [Arm]
    let budgets: [Budget]

    /// Runs the arms in rounds: all of them, then all of them in reverse order.
    ///
    /// A second copy of the first arm runs last. If the two differ by more than 3 %, the machine was too busy and the
    /// run is void; it is tried up to three times.
    func run(rounds: Int) throws -> Outcome {
        var outcome = try measure(rounds)
        for _ in 0..<2 where outcome.isVoid { outcome = try measure(rounds) }
        return outcome
    }

    private func measure(_ rounds: Int) throws -> Outcome {
        let order = arms + [arms[0]]
        for arm in order { _ = try arm.sample() }
        var times = [[Double]](repeating: [], count: order.count)
        for _ in 0..<rounds {
            var round = [Double](repeating: 0, count: order.count)
            for place in Array(order.indices) + order.indices.reversed() { round[place] += try order[place].sample() }
            for place in order.indices { times[place].append(round[place] / 2) }
        }
        return Outcome(comparison: self, times: times)
    }

    struct Outcome {
        let comparison: Comparison
        /// Nanoseconds by arm and round; the last arm is a copy of the first.
        fileprivate let times: [[Double]]

        /// The ratio of the first arm to its copy.
        var noise: Ratio { Ratio(times[times.count - 1], times[0]) }

        var isVoid: Bool { abs(noise.median - 1) > 0.03 }

        func ratio(_ budget: Budget) -> Ratio {
            Ratio(times[place(budget.arm)], times[place(budget.reference)])
        }

        /// The median of an arm's time for one operation, in nanoseconds.
        func nanoseconds(_ arm: String) -> Double {
            times[place(arm)].sorted()[times[0].count / 2] / Double(comparison.operations)
        }

        private func place(_ name: String) -> Int {
            guard let place = comparison.arms.firstIndex(where: { $0.name == name }) else {
                preconditionFailure("'\(comparison.name)' has no arm '\(name)'.")
            }
            return place
        }
    }
}

/// The maximum cost of an arm relative to another.
struct Budget {
    /// The number in the design: `G12`.
    let number: String
    let arm: String
    let reference: String
    let limit: Double

    init(_ number: String, _ arm: String, against reference: String, atMost limit: Double) {
        self.number = number
        self.arm = arm
        self.reference = reference
        self.limit = limit
    }
}

/// The median of the ratios of each round, with a 95 % interval from order statistics.
struct Ratio {
    let median: Double
    let interval: ClosedRange<Double>

    init(_ times: [Double], _ reference: [Double]) {
        let sorted = zip(times, reference).map { $0 / $1 }.sorted()
        let count = Double(sorted.count)
        median = sorted[sorted.count / 2]
        // The number of ratios below the true median is binomial; this is its normal approximation.
        let low = Int((count / 2 - 0.98 * count.squareRoot()).rounded(.down))
        let high = Int((count / 2 + 0.98 * count.squareRoot()).rounded(.up))
        interval = sorted[max(low, 0)]...sorted[min(high, sorted.count - 1)]
    }
}
