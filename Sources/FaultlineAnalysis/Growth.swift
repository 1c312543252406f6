internal import FaultlineTrace

/// How long a fetch would take with more data: the order in which its time grows with the rows of its table, and what
/// that makes of it.
///
/// What a trip takes without rows does not grow, nor does preparing its statement. The other part is taken to grow as the order says, so that it is an
/// upper bound where the predicate finds no more rows than before.
public struct Growth: Sendable, Hashable {
    /// What the time follows.
    public enum Order: String, Sendable, Hashable, CaseIterable {
        /// An index or a limit keeps it as it is, but for a page more now and then.
        case logarithmic = "log n"
        /// The rows of the table, all of which are gone through or handed out.
        case linear = "n"
        /// The same, and they are sorted.
        case linearithmic = "n log n"
    }

    /// By how much data are thought to grow, where a finding projects.
    static let projected = 10.0

    public let order: Order
    /// Rows that one fetch goes through now, on average.
    public let rows: Double
    /// What one fetch takes now, on average and without the batches of its rows, in nanoseconds.
    public let now: Double
    private let fixed: Double

    /// - Parameter costs: Tell what a trip takes by itself.
    /// - Returns: `nil` if the trace has no statement of the fetch.
    public init?(_ fetch: FetchProfile, costs: CostModel) {
        let counts = fetch.counts
        guard counts.executions > 0, counts.statements > 0 else { return nil }
        let shape = fetch.key.shape
        let isWhole = shape.predicate.isEmpty && !shape.isLimited && shape.groups == nil
        rows = max(counts.scannedRows, isWhole ? counts.foundRows : 0)
        now = counts.meanTime
        let prepare = Double(counts.prepareTime) / Double(counts.executions)
        fixed = min(now, min(costs.store.line.trip, now / 2) + prepare)
        // What a predicate keeps out is not sorted, but what it finds grows as well.
        order = rows == 0 ? .logarithmic : counts.sorts > 0 ? .linearithmic : .linear
    }

    /// What one fetch would take with so many times the rows, in nanoseconds.
    public func time(with factor: Double) -> Double {
        switch order {
        case .logarithmic: return now
        case .linear: return fixed + (now - fixed) * factor
        case .linearithmic:
            let before = max(2, rows)
            return fixed + (now - fixed) * factor * (before * factor).binaryLogarithm / before.binaryLogarithm
        }
    }
}
