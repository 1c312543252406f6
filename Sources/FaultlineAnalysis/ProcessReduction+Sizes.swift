internal import FaultlineTrace

/// How many rows the fetches of one shape from one line found at most, and what they tell of their table.
struct ResultSizes: Sendable {
    /// Of a fetch without a limit.
    var mostRows: UInt64 = 0
    /// Those of a fetch that asked for all there are.
    var allRows: UInt64 = 0
    /// Rows of the table that its statement went through; 0: nothing is known.
    var scannedRows: UInt64 = 0
    /// Scans of the whole table of which only the plan is told.
    var plannedScans: UInt64 = 0
    /// Those among them that sorted all of the table for the few rows that a limit let through.
    var plannedSorts: UInt64 = 0
}

extension ProcessReduction {
    /// Remembers how many rows a fetch found, which are all that there are if it asked for all of them.
    mutating func noteSize(_ fetch: TraceEvent.Fetch, at index: Int, isSetup: Bool, in tables: ProfileTables) {
        guard fetch.limit == 0, fetch.error == 0, fetch.resultType != .dictionaries else { return }
        let isWhole = tables.fetches[index].key.shape.predicate.isEmpty
        let isResult = fetch.resultType == .objects && !isSetup
        guard isWhole || isResult else { return }
        let rows = UInt64(fetch.rows)
        sizes[index, default: ResultSizes()].note(mostRows: isResult ? rows : 0, allRows: isWhole ? rows : 0)
    }

    /// Remembers how many rows a table has that a fetch's own statement went through.
    mutating func noteSize(_ statement: TraceEvent.Statement, _ plan: PlanFacts?, of index: Int, isCut: Bool) {
        guard statement.scannedRows > 0, statement.error == 0, plan?.access?.isScan == true else { return }
        // With a limit it stops at some row, unless it has to sort them all first.
        guard !isCut || statement.sorts > 0 else { return }
        sizes[index, default: ResultSizes()].note(scannedRows: statement.scannedRows)
    }

    /// Remembers that a fetch's own statement went through its whole table, as its plan tells and SQLite's counters do not.
    mutating func notePlannedScan(
        _ statement: TraceEvent.Statement, _ plan: PlanFacts, of index: Int, isCut: Bool, in tables: ProfileTables
    ) {
        guard plan.access?.isScan == true, statement.error == 0, !isCut || plan.sortsRows else { return }
        sizes[index, default: ResultSizes()].plannedScans &+= 1
        if isCut, tables.fetches[index].key.shape.predicate.isEmpty { sizes[index]?.plannedSorts &+= 1 }
    }

    /// Adds this run to the growth of the fetches' results.
    mutating func finishSizes(into tables: inout ProfileTables) {
        var tableRows: [String: UInt64] = [:]
        for (index, size) in sizes {
            let entity = tables.fetches[index].key.shape.entity
            let tree = tables.tree(of: entity)
            // All objects of an entity that inherits are a part of its table.
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
            // Without a scan or a fetch of everything nobody knows whether the table has grown; what tells of fewer rows
            // than were found was of a part of it.
            guard let known = tableRows[tree], known >= size.mostRows else { continue }
            tables.changeFetch(index) {
                $0.growth.insert(ResultGrowth.Run(tableRows: known, rows: size.mostRows))
            }
        }
        sizes = [:]
    }
}

extension ResultSizes {
    fileprivate mutating func note(mostRows: UInt64 = 0, allRows: UInt64 = 0, scannedRows: UInt64 = 0) {
        self.mostRows = max(self.mostRows, mostRows)
        self.allRows = max(self.allRows, allRows)
        self.scannedRows = max(self.scannedRows, scannedRows)
    }
}
