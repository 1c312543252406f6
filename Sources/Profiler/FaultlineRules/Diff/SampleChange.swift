internal import FaultlineProfile
package import FaultlineTrace

/// The sampled CPU time or allocations of a function on both sides, for each trace.
///
/// The number of samples of a function varies from run to run like that of independent events: a count of n has a standard
/// deviation of √n. A change is one only if it exceeds what that explains.
package struct SampleChange: Sendable {
    /// What samples measure: CPU time in nanoseconds, or allocated bytes.
    package enum Unit: String, Sendable, Hashable, CaseIterable {
        case nanoseconds, bytes
    }

    /// Samples, and what they stand for.
    package struct Sum: Sendable, Hashable {
        package internal(set) var samples: UInt64 = 0
        /// In nanoseconds or bytes.
        package internal(set) var amount: UInt64 = 0
    }

    /// The innermost of the program's functions on the samples' paths; `nil` for all samples, and for those without one.
    package let function: CallSite?
    package let before: Sum
    package let after: Sum
    /// Whether the change exceeds the noise.
    package let isChange: Bool

    /// Standard errors that the change of all samples exceeds, and that of one function among many.
    private static let errors = (all: 3.0, function: 4.0)
    /// The minimum ratio of a change, because no machine runs the same work twice in the same time.
    private static let minimumRatio = 1.1
    /// The minimum share of all samples in which a function's change matters.
    private static let minimumShare = 0.01

    init(
        function: CallSite?, _ before: Sum, _ after: Sum, isAll: Bool, all: Double,
        _ traces: (before: UInt64, after: UInt64)
    ) {
        (self.function, self.before, self.after) = (function, before, after)
        let (first, second) = (Double(traces.before), Double(traces.after))
        let (old, new) = (Double(before.samples) / first, Double(after.samples) / second)
        let error =
            ((Double(before.samples) + 1) / (first * first) + (Double(after.samples) + 1) / (second * second))
            .squareRoot()
        let limit = isAll ? Self.errors.all : Self.errors.function
        isChange =
            abs(new - old) > limit * error && max(old, new) >= Self.minimumRatio * min(old, new)
            && abs(new - old) >= all * Self.minimumShare
    }
}

/// The samples of one kind on both sides.
package struct SampleDiff: Sendable {
    package let unit: SampleChange.Unit
    /// All samples; `nil` if only one side was sampled.
    package let all: SampleChange?
    /// The functions whose change exceeds the noise, the largest change first.
    package let functions: [SampleChange]

    /// - Returns: `nil` if neither side was sampled.
    init?(
        _ unit: SampleChange.Unit, _ before: [CallSite?: SampleChange.Sum], _ after: [CallSite?: SampleChange.Sum],
        _ traces: (before: UInt64, after: UInt64)
    ) {
        guard !before.isEmpty || !after.isEmpty else { return nil }
        self.unit = unit
        guard !before.isEmpty, !after.isEmpty else {
            (all, functions) = (nil, [])
            return
        }
        let sum = { (sums: [CallSite?: SampleChange.Sum]) in
            sums.values.reduce(into: SampleChange.Sum()) { $0.add($1.samples, $1.amount) }
        }
        let (old, new) = (sum(before), sum(after))
        let most = max(Double(old.samples) / Double(traces.before), Double(new.samples) / Double(traces.after))
        let change = { (function: CallSite?, old: SampleChange.Sum, new: SampleChange.Sum, isAll: Bool) in
            SampleChange(function: function, old, new, isAll: isAll, all: most, traces)
        }
        all = change(nil, old, new, true)
        let weight = { (change: SampleChange) in
            abs(
                Double(change.after.amount) / Double(traces.after) - Double(change.before.amount)
                    / Double(traces.before))
        }
        functions = Set(before.keys).union(after.keys).compactMap { $0 }
            .map { change($0, before[$0] ?? .init(), after[$0] ?? .init(), false) }
            .filter(\.isChange)
            .ordered { (weight($0), $1.function?.sortText ?? "") > (weight($1), $0.function?.sortText ?? "") }
    }

    /// Whether anything exceeds the noise.
    package var isUnchanged: Bool { all?.isChange != true && functions.isEmpty }
}

extension SampleChange.Sum {
    fileprivate mutating func add(_ samples: UInt64, _ amount: UInt64) {
        self.samples &+= samples
        self.amount &+= amount
    }
}

extension Profile {
    /// The sampled CPU time by the innermost of the program's functions.
    var cpuTimeByFunction: [CallSite?: SampleChange.Sum] {
        cpuTimes.reduce(into: [:]) {
            $0[$1.path.functions.first, default: .init()].add($1.time.samples, $1.time.time)
        }
    }

    /// The sampled bytes that were allocated, by the innermost of the program's functions.
    var allocationsByFunction: [CallSite?: SampleChange.Sum] {
        allocations.reduce(into: [:]) {
            $0[$1.path.functions.first, default: .init()].add($1.sum.samples, $1.sum.bytes)
        }
    }
}
