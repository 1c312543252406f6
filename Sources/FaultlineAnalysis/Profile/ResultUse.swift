public import FaultlineTrace

/// What programs did with the results of fetches of one shape, line and batch size.
public struct ResultUse: Sendable {
    /// What loading in batches of one size would take.
    public struct Loading: Sendable, Hashable {
        /// Batches that hold a touched row.
        public var batches: UInt64 = 0
        /// Rows of those batches.
        public var rows: UInt64 = 0
    }

    /// Batch sizes that are tried on every result; 0 stands for everything at once.
    public static let candidates: [UInt64] =
        [0] + stride(from: 5, through: 100, by: 5) + [150, 200, 300, 500, 750, 1000, 1500, 2000, 3000, 5000]

    /// Results that were summed up.
    public internal(set) var executions: UInt64 = 0
    /// Those among them that nobody touched a row of.
    public internal(set) var untouched: UInt64 = 0
    /// Rows that matched, over all results.
    public internal(set) var rows: UInt64 = 0
    /// The longest result's rows.
    public internal(set) var maximumRows: UInt64 = 0
    public internal(set) var limitedExecutions: UInt64 = 0
    public internal(set) var loadedRows: UInt64 = 0
    public internal(set) var touchedRows: UInt64 = 0
    public internal(set) var batchesLoaded: UInt64 = 0
    public internal(set) var countAsked: UInt64 = 0
    /// Those among them that asked for no more than whether there is a row.
    public internal(set) var emptinessAsked: UInt64 = 0
    /// Rows whose object was changed or deleted.
    public internal(set) var modifiedRows: UInt64 = 0
    /// Bytes of column values in the loaded rows.
    public internal(set) var bytes: UInt64 = 0
    /// Runs that did not fit the summaries: the loads below are too few by what they held.
    public internal(set) var runsLost: UInt64 = 0
    /// How many rows were touched within one window, and how often, by the kind of the window's scope.
    public internal(set) var windows: [TraceEvent.Scope.Kind?: [UInt64: UInt64]] = [:]
    /// What each batch size would load for the rows that were touched.
    public internal(set) var loadings: [UInt64: Loading] = [:]
    /// Results of which every row was taken out in one window, though less than half of the rows were read.
    public internal(set) var materialised: UInt64 = 0
    /// Rows of those results, and those among them in which a property was read.
    public internal(set) var materialisedRows: UInt64 = 0
    public internal(set) var materialisedRowsRead: UInt64 = 0
    /// Where loads were caused, and how many rows they loaded.
    public internal(set) var loadSites: [CallSite?: UInt64] = [:]
    /// Scopes in which loads happened, and how many did.
    public internal(set) var loadScopes: [ScopeSummary.Key: UInt64] = [:]
    /// Loads, and those among them on a main thread.
    public internal(set) var loads: UInt64 = 0
    public internal(set) var mainThreadLoads: UInt64 = 0
    /// Results that the program still held at the end, which may yet be used for more.
    public internal(set) var openExecutions: UInt64 = 0
    /// What the others were there for, but for those without rows.
    var needs: [ResultNeed: ResultTally] = [:]

    mutating func add(_ use: TraceEvent.Use, isLimited: Bool) {
        executions &+= 1
        untouched &+= use.touchedRows == 0 ? 1 : 0
        rows &+= UInt64(use.rows)
        maximumRows = max(maximumRows, UInt64(use.rows))
        limitedExecutions &+= isLimited ? 1 : 0
        loadedRows &+= UInt64(use.loadedRows)
        touchedRows &+= UInt64(use.touchedRows)
        batchesLoaded &+= UInt64(use.batchesLoaded)
        countAsked &+= UInt64(use.countAsked)
        emptinessAsked &+= UInt64(use.emptinessAsked)
        modifiedRows &+= UInt64(use.modifiedRows)
        bytes &+= use.bytes
        runsLost &+= UInt64(use.runsLost)
        for window in use.windows where window.times > 0 {
            // Widths beyond 4,096 rows are kept to three digits, so that the table stays small.
            let width = window.rows <= 4096 ? window.rows : window.rows / 1024 * 1024
            windows[window.scopeKind, default: [:]][width, default: 0] &+= window.times
        }
        addLoadings(use)
        addMaterialisation(use)
    }

    /// Adds what a result was there for, which is known at its end.
    ///
    /// - Parameters:
    ///   - time: What fetching it and loading its rows took, in nanoseconds; 0: not known.
    ///   - unread: What saves wrote of its objects.
    mutating func add(_ need: ResultNeed?, of use: TraceEvent.Use, time: UInt64, _ unread: UnreadRows?) {
        guard use.state == .closed else {
            openExecutions &+= 1
            return
        }
        guard let need else { return }
        let isWhole = need == .all || need == .identities
        var tally = ResultTally(
            executions: 1, rows: UInt64(use.rows), touchedRows: UInt64(use.touchedRows),
            mostTouched: UInt64(isWhole ? use.rows : use.touchedRows), bytes: use.bytes, time: time,
            counted: use.countAsked > use.emptinessAsked ? 1 : 0)
        if need.isWritten, let unread { tally.written = unread.written }
        needs[need, default: ResultTally()].merge(tally)
    }

    private mutating func addLoadings(_ use: TraceEvent.Use) {
        let intervals = Self.disjoint(use.runs)
        for size in Set(Self.candidates + [UInt64(use.batchSize)]) {
            let loading = Self.loading(intervals, size: size, of: UInt64(use.rows))
            loadings[size, default: Loading()].batches &+= loading.batches
            loadings[size, default: Loading()].rows &+= loading.rows
        }
    }

    private mutating func addMaterialisation(_ use: TraceEvent.Use) {
        let rows = UInt64(use.rows)
        guard use.batchSize > 0, rows >= 2 * UInt64(use.batchSize), use.touchedRows == use.rows,
            use.windows.contains(where: { $0.rows == rows }), !use.properties.isEmpty
        else { return }
        let read = use.properties.map(\.rowsRead).max() ?? 0
        guard !Significance.isHalf(read, of: rows) else { return }
        materialised &+= 1
        materialisedRows &+= rows
        materialisedRowsRead &+= read
    }

    /// The rows of runs in ascending order, each once.
    static func disjoint(_ runs: [TraceEvent.Use.Run]) -> [Range<UInt64>] {
        let ranges = runs.filter { $0.rows > 0 }.map { $0.first..<($0.first &+ $0.rows) }
        var result: [Range<UInt64>] = []
        for range in ranges.sorted(by: { ($0.lowerBound, $0.upperBound) < ($1.lowerBound, $1.upperBound) }) {
            if let last = result.last, range.lowerBound <= last.upperBound {
                result[result.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
            } else {
                result.append(range)
            }
        }
        return result
    }

    /// The batches of a size that hold a row of ascending intervals, of a result with so many rows.
    static func loading(_ intervals: [Range<UInt64>], size: UInt64, of rows: UInt64) -> Loading {
        guard size > 0 else { return Loading(batches: rows > 0 ? 1 : 0, rows: rows) }
        var loading = Loading()
        var next: UInt64 = 0
        for interval in intervals {
            let first = max(next, interval.lowerBound / size)
            let last = (interval.upperBound - 1) / size
            guard first <= last else { continue }
            loading.batches &+= last - first + 1
            let end = min(rows, (last + 1) * size)
            loading.rows &+= end > first * size ? end - first * size : 0
            next = last + 1
        }
        return loading
    }
}
