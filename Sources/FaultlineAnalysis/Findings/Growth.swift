internal import FaultlineTrace

/// How long a fetch would take if its table had more rows, as far as a trace has evidence for that.
///
/// Two things are evidence together: SQLite's plan and counters say what the time follows, and several fetches that found
/// the pages in memory say what one takes. Fetches that find more or fewer rows in a larger table, which nothing here
/// tells, have no projection.
public struct Growth: Sendable, Hashable {
    /// What the time follows.
    public enum Order: String, Sendable, Hashable, CaseIterable {
        /// An index leads to the rows, and a limit or a unique value ends there: only the index gets deeper.
        case logarithmic = "log n"
        /// The rows of the table, all of which are scanned or returned.
        case linear = "n"
        /// The same, and they are sorted.
        case linearithmic = "n log n"
    }

    /// By how much data are thought to grow, where a finding projects.
    static let projected = 10.0
    /// Minimum number of fetches before the quicker ones count as warm: as fetches that find their pages in memory.
    static let minimumFetches: UInt64 = 5
    /// How many times the least time that grows the most may be: beyond it, what does not grow hides what does.
    static let widest = 4.0
    /// How much less or more a row can take in a larger table, where more of the memory is not near the processor; the
    /// row cache has room for the rows of a small table and not for those of a large one.
    ///
    /// Of 1,200 to 1,200,000 rows 0.7–2.2 times were measured where objects are fetched, and 0.8–1.4 times where rows are
    /// counted.
    static let perObject = 0.6...2.5
    static let perRow = 0.7...1.7
    /// The same of a sort of which a limit takes the first rows.
    ///
    /// The more rows there are, the fewer of them come before those that were kept so far: 0.55 times were measured.
    static let perSkippedRow = 0.4...1.7
    /// Bytes of a row, where none were read: what SQLite keeps of one with a few numbers and a short text, and what it
    /// keeps of each row in an index.
    static let rowSize = 100.0
    static let indexedSize = 12.0
    /// Pages that a larger table puts between the root of an index and a row.
    static let deeperPages = 2.0

    public let order: Order
    /// Rows that one fetch scans or returns now, on average.
    public let rows: Double
    /// What one fetch takes that finds its pages in memory, without the batches of its rows, in nanoseconds: the median
    /// and the range in which most lie.
    public let now: Saving.Range
    /// What does not grow, in nanoseconds.
    private let fixed: ClosedRange<Double>
    /// Pages that the rows of one fetch fill, at most.
    private let pages: Double
    private let perRow: ClosedRange<Double>

    /// - Parameter costs: Tell what a trip takes by itself.
    /// - Returns: `nil` if the trace has no evidence.
    public init?(_ fetch: FetchProfile, costs: CostModel) {
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
        // What a fetch takes by itself was seen of others: this one's may be half or twice as much.
        let trip = min(costs.store.line.trip, costs.quickestFetch ?? .infinity)
        fixed = min(now.low / 2, trip / 2)...min(now.low * 0.9, trip * 2)
        let shape = fetch.key.shape
        let isFetched = shape.resultType == "objects"
        // A scan that returns few of its rows is one that counts them.
        perRow =
            shape.isLimited && order != .logarithmic
            ? Self.perSkippedRow : isFetched && 2 * found >= rows ? Self.perObject : Self.perRow
        let size =
            isFetched && counts.rows > 0
            ? max(Self.rowSize, fetch.rowBytes)
            : shape.resultType == "count" && shape.predicate.isEmpty ? Self.indexedSize : Self.rowSize
        // Rows that an index leads to may each lie on a page of their own.
        pages = order == .logarithmic ? rows + Self.deeperPages : rows * size / 4096
        guard order == .logarithmic || now.high - fixed.lowerBound <= Self.widest * (now.low - fixed.upperBound) else {
            return nil
        }
    }

    /// Whether a request asks for all objects of its entity.
    private static func returnsAll(_ shape: ShapeEntry) -> Bool {
        shape.predicate.isEmpty && !shape.isLimited && shape.groups == nil
    }

    /// What the time of fetches follows; `nil`: nothing tells.
    private static func order(of fetch: FetchProfile) -> Order? {
        let (shape, counts) = (fetch.key.shape, fetch.counts)
        guard let plan = fetch.statements.commonPlan else { return nil }
        let isSorted = counts.sorts > 0
        if StatementTable.ownSearch(in: plan) != nil {
            // How many rows an index leads to in a larger table, nobody knows, unless a limit or the value says so.
            let isOne = fetch.sample.executions.map(\.rows).max() ?? 2 <= 1 && shape.resultType != "count"
            guard !isSorted, shape.isLimited ? counts.offsetFetches == 0 : isOne else { return nil }
            return .logarithmic
        }
        guard StatementTable.ownScan(in: plan) != nil else { return nil }
        if shape.isLimited, !isSorted {
            // The scan ends where enough rows are found. Where a predicate keeps some out, that may be anywhere.
            return shape.predicate.isEmpty && counts.offsetFetches == 0 ? .logarithmic : nil
        }
        guard counts.scannedRows > 0 || returnsAll(shape) else { return nil }
        return isSorted || shape.groups != nil ? .linearithmic : .linear
    }

    /// What one fetch would take if the table had so many times the rows, in nanoseconds: the range in which it would lie.
    public func time(with factor: Double) -> Saving.Range {
        let median = fixed.lowerBound + (fixed.upperBound - fixed.lowerBound) / 2
        let page = CostModel.page.most
        guard order != .logarithmic else {
            return Saving.Range(
                median: now.median, low: now.low * perRow.lowerBound, high: now.high * perRow.upperBound + pages * page)
        }
        // Rows that fitted into memory may have to be read from the file again for each fetch.
        let read = pages * factor * page
        let sorting = order == .linearithmic ? Self.sorting(max(2, rows), factor) : 1
        return Saving.Range(
            median: median + max(0, now.median - median) * factor * sorting.squareRoot(),
            low: fixed.upperBound + (now.low - fixed.upperBound) * factor * perRow.lowerBound,
            high: fixed.lowerBound + (now.high - fixed.lowerBound) * factor * perRow.upperBound * sorting + read)
    }

    /// What a finding says about ten times the rows, with a space in front.
    var sentence: Wording {
        " With ten times the rows a fetch would take \(span: time(with: Self.projected))."
    }

    /// How much longer sorting takes a row among so many times the rows.
    private static func sorting(_ rows: Double, _ factor: Double) -> Double {
        (rows * factor).binaryLogarithm / rows.binaryLogarithm
    }
}

extension FetchProfile {
    /// Bytes of a row that was loaded, on average; 0: not known.
    fileprivate var rowBytes: Double {
        let rows = total(\.loadedRows)
        return rows == 0 ? 0 : Double(total(\.bytes)) / Double(rows)
    }
}
