package import FaultlineProfile
internal import FaultlineTrace

/// A projection of a fetch's time to a larger table, if the trace has evidence for it.
///
/// The evidence is of two kinds, and both are needed. SQLite's plan and counters show how the time grows. Several
/// fetches that found their pages in memory show how long one takes. There is no projection for fetches that may find
/// more or fewer rows in a larger table in a way that the trace does not show.
package struct Growth: Sendable, Hashable {
    /// The order of growth of the time.
    package enum Order: String, Sendable, Hashable, CaseIterable {
        /// SQLite seeks the rows with an index, up to a limit or a unique value.
        ///
        /// Only the index gets deeper.
        case logarithmic = "log n"
        /// All rows of the table are scanned or returned.
        case linear = "n"
        /// All rows are scanned or returned, and sorted.
        case linearithmic = "n log n"
    }

    /// The factor by which findings assume that data grow.
    package static let projected = 10.0
    /// The minimum number of fetches before the quicker ones count as warm, with their pages in memory.
    package static let minimumFetches: UInt64 = 5
    /// The maximum ratio between the largest and the smallest estimate of the growing part.
    ///
    /// Beyond it, the fixed part hides the growing one.
    static let widest = 4.0
    /// The range of the cost per row in a larger table, as a factor: less of the table is in the processor's caches,
    /// and the row cache holds the rows of a small table but not of a large one.
    ///
    /// From 1,200 to 1,200,000 rows, 0.7–2.2 were measured for fetched objects and 0.8–1.4 for counted rows.
    static let perObject = 0.6...2.5
    static let perRow = 0.7...1.7
    /// The range of the cost per row of a sort with a limit, as a factor.
    ///
    /// The more rows there are, the smaller the share that sorts before the rows kept so far. 0.55 was measured.
    static let perSkippedRow = 0.4...1.7
    /// The bytes of a row if none were read: for a row of a few numbers and a short text, and for a row's entry in an
    /// index.
    static let rowSize = 100.0
    static let indexedSize = 12.0
    /// The additional pages between the root of an index and a row in a larger table.
    static let deeperPages = 2.0

    package let order: Order
    /// The mean number of rows that one fetch scans or returns now.
    package let rows: Double
    /// The time of one fetch with its pages in memory, without its batches, in nanoseconds: the median, and the range
    /// from the 10th to the 75th percentile.
    package let now: Saving.Range
    /// The range of the fixed part of the time, in nanoseconds.
    private let fixed: ClosedRange<Double>
    /// The maximum number of pages that the rows of one fetch fill.
    private let pages: Double
    private let perRow: ClosedRange<Double>

    /// - Parameter costs: Gives the fixed cost of a trip.
    /// - Returns: `nil` if the trace has no evidence.
    package init?(_ fetch: FetchProfile, costs: CostModel) {
        let counts = fetch.counts
        guard counts.executions > 0, counts.statements > 0, fetch.speeds.count >= Self.minimumFetches,
            let order = Self.order(of: fetch)
        else { return nil }
        let found = counts.foundRows
        let scanned = max(counts.scannedRows, Self.returnsAll(fetch.key.shape) ? found : 0)
        self.order = order
        rows = order == .logarithmic ? found : scanned
        now = Saving.Range(
            median: fetch.speeds.quantile(0.5), low: fetch.speeds.quantile(0.1), high: fetch.speeds.quantile(0.75))
        // The fixed cost comes from other fetches. For this one, it may be half or twice as much.
        let trip = min(costs.store.line.trip, costs.quickestFetch ?? .infinity)
        fixed = min(now.low / 2, trip / 2)...min(now.low * 0.9, trip * 2)
        let shape = fetch.key.shape
        let isFetched = shape.resultType == "objects"
        // A scan that returns few of its rows counts them.
        perRow =
            shape.isLimited && order != .logarithmic
            ? Self.perSkippedRow : isFetched && 2 * found >= rows ? Self.perObject : Self.perRow
        let size =
            isFetched && counts.rows > 0
            ? max(Self.rowSize, fetch.rowBytes)
            : shape.resultType == "count" && shape.predicate.isEmpty ? Self.indexedSize : Self.rowSize
        // Each row that an index finds may be on a page of its own.
        pages = order == .logarithmic ? rows + Self.deeperPages : rows * size / 4096
        guard order == .logarithmic || now.high - fixed.lowerBound <= Self.widest * (now.low - fixed.upperBound) else {
            return nil
        }
    }

    /// Whether a request asks for all objects of its entity.
    private static func returnsAll(_ shape: ShapeEntry) -> Bool {
        shape.predicate.isEmpty && !shape.isLimited && shape.groups == nil
    }

    /// The order of growth, or `nil` if the trace does not show it.
    private static func order(of fetch: FetchProfile) -> Order? {
        let (shape, counts) = (fetch.key.shape, fetch.counts)
        guard let plan = fetch.statements.commonPlan else { return nil }
        let isSorted = counts.sorts > 0
        if StatementTable.ownSearch(in: plan) != nil {
            // The number of rows that match in a larger table is unknown, unless there is a limit or the value is
            // unique.
            let isOne = fetch.sample.executions.map(\.rows).max() ?? 2 <= 1 && shape.resultType != "count"
            guard !isSorted, shape.isLimited ? counts.offsetFetches == 0 : isOne else { return nil }
            return .logarithmic
        }
        guard StatementTable.ownScan(in: plan) != nil else { return nil }
        if shape.isLimited, !isSorted {
            // The scan ends when it has found enough rows. With a predicate, that may be anywhere in the table.
            return shape.predicate.isEmpty && counts.offsetFetches == 0 ? .logarithmic : nil
        }
        guard counts.scannedRows > 0 || returnsAll(shape) else { return nil }
        return isSorted || shape.groups != nil ? .linearithmic : .linear
    }

    /// The projected time of one fetch, in nanoseconds, if the table had `factor` times as many rows.
    package func time(with factor: Double) -> Saving.Range {
        let median = fixed.lowerBound + (fixed.upperBound - fixed.lowerBound) / 2
        let page = CostModel.page.most
        guard order != .logarithmic else {
            return Saving.Range(
                median: now.median, low: now.low * perRow.lowerBound, high: now.high * perRow.upperBound + pages * page)
        }
        // Pages that fitted into memory may have to be read from the file for each fetch.
        let read = pages * factor * page
        let sorting = order == .linearithmic ? Self.sorting(max(2, rows), factor) : 1
        return Saving.Range(
            median: median + max(0, now.median - median) * factor * sorting.squareRoot(),
            low: fixed.upperBound + (now.low - fixed.upperBound) * factor * perRow.lowerBound,
            high: fixed.lowerBound + (now.high - fixed.lowerBound) * factor * perRow.upperBound * sorting + read)
    }

    /// The sentence that a finding has about ten times the rows, with a leading space.
    package var sentence: Wording {
        " With ten times the rows a fetch would take \(span: time(with: Self.projected))."
    }

    /// The factor by which sorting costs more per row if there are `factor` times as many rows.
    private static func sorting(_ rows: Double, _ factor: Double) -> Double {
        (rows * factor).binaryLogarithm / rows.binaryLogarithm
    }
}

extension FetchProfile {
    /// The mean number of bytes of a loaded row, or 0 if unknown.
    fileprivate var rowBytes: Double {
        let rows = total(\.loadedRows)
        return rows == 0 ? 0 : Double(total(\.bytes)) / Double(rows)
    }
}
