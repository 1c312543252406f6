package import FaultlineTrace

/// The sizes of the results of one shape fetched from one line, and of the table they came from.
struct ResultSizes: Sendable {
    /// The most rows of a fetch without a limit.
    var mostRows: UInt64 = 0
    /// The most rows of a fetch without a predicate.
    var allRows: UInt64 = 0
    /// The most rows of the table that the fetch's statement scanned, or 0 if unknown.
    var scannedRows: UInt64 = 0
    /// The number of full scans that are known only from the plan.
    var plannedScans: UInt64 = 0
    /// The number of planned scans that sorted the whole table for the few rows that a limit let through.
    var plannedSorts: UInt64 = 0
}

/// Records how many rows fetches found and how many their tables had.
///
/// Growth is projected from these.
package struct ResultSizeDetector: Detector {
    package static let kinds: Set<EventKind> = [.fetch, .sql]

    /// By the fetch's index in the tables.
    private var sizes: [Int: ResultSizes] = [:]

    package init() {}

    package mutating func observe(_ event: TraceEvent, in context: inout ProcessContext, _ tables: inout ProfileTables)
    {
        guard let current = context.current else { return }
        switch event.detail {
        case .fetch(let fetch): observe(fetch, at: current.index, isSetup: context.isSetup(event.scope), in: tables)
        case .sql(let statement): observe(statement, current, in: context, tables, event)
        default: break
        }
    }

    /// Records the rows a fetch found.
    ///
    /// A fetch without a predicate returns all rows.
    private mutating func observe(
        _ fetch: TraceEvent.Fetch, at index: Int, isSetup: Bool, in tables: ProfileTables
    ) {
        guard fetch.limit == 0, fetch.error == 0, fetch.resultType != .dictionaries else { return }
        let isWhole = tables.fetches[index].key.shape.predicate.isEmpty
        let isResult = fetch.resultType == .objects && !isSetup
        guard isWhole || isResult else { return }
        let rows = UInt64(fetch.rows)
        sizes[index, default: ResultSizes()].add(mostRows: isResult ? rows : 0, allRows: isWhole ? rows : 0)
    }

    /// Records the table rows that a fetch's own statement scanned.
    private mutating func observe(
        _ statement: TraceEvent.Statement, _ current: ProcessContext.CurrentFetch, in context: ProcessContext,
        _ tables: ProfileTables, _ event: TraceEvent
    ) {
        guard statement.error == 0, let plan = current.plan, plan.access?.isScan == true else { return }
        // A statement with a limit stops early, unless it must sort all rows first.
        if statement.scannedRows > 0, !current.isCut || statement.sorts > 0 {
            sizes[current.index, default: ResultSizes()].add(scannedRows: statement.scannedRows)
        }
        // Without SQLite's counters, the plan shows whether the table was scanned.
        let scope = context.fetches.peek(event.parent)?.scope ?? event.scope
        guard !statement.isCounted, !context.isSetup(scope), !current.isCut || plan.sortsRows else { return }
        sizes[current.index, default: ResultSizes()].plannedScans &+= 1
        if current.isCut, tables.fetches[current.index].key.shape.predicate.isEmpty {
            sizes[current.index]?.plannedSorts &+= 1
        }
    }

    /// Adds this run to the growth of the fetches' results.
    package mutating func finish(in context: inout ProcessContext, _ tables: inout ProfileTables) {
        var tableRows: [String: UInt64] = [:]
        for (index, size) in sizes {
            let entity = tables.fetches[index].key.shape.entity
            let tree = tables.tree(of: entity)
            // The objects of an entity that inherits are only part of its table.
            let all = entity == tree ? size.allRows : 0
            tableRows[tree] = max(tableRows[tree] ?? 0, size.scannedRows, all)
        }
        for (index, size) in sizes where size.plannedScans > 0 {
            let rows = tableRows[tables.tree(of: tables.fetches[index].key.shape.entity)] ?? 0
            guard rows > 1 else { continue }
            tables.changeFetch(index) {
                $0.counts.fullScanSteps &+= size.plannedScans &* (rows - 1)
                $0.counts.sortedRows &+= size.plannedSorts &* rows
            }
        }
        for (index, size) in sizes where size.mostRows > 0 {
            let tree = tables.tree(of: tables.fetches[index].key.shape.entity)
            // Only a scan or a fetch of all rows shows whether the table has grown. A count below the rows found covers
            // only part of the table.
            guard let known = tableRows[tree], known >= size.mostRows else { continue }
            tables.changeFetch(index) {
                $0.growth.insert(ResultGrowth.Run(tableRows: known, rows: size.mostRows))
            }
        }
        sizes = [:]
    }
}

extension ResultSizes {
    fileprivate mutating func add(mostRows: UInt64 = 0, allRows: UInt64 = 0, scannedRows: UInt64 = 0) {
        self.mostRows = max(self.mostRows, mostRows)
        self.allRows = max(self.allRows, allRows)
        self.scannedRows = max(self.scannedRows, scannedRows)
    }
}
