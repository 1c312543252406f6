internal import FaultlineTrace

/// How many rows the fetches of one shape from one line found at most, and what they tell of their table.
struct ResultSizes: Sendable {
    /// Of a fetch without a limit.
    var mostRows: UInt64 = 0
    /// What the table has at least; 0: nothing is known.
    var tableRows: UInt64 = 0
}

extension ProcessReduction {
    /// Remembers how many rows a fetch found, which are all that there are if it asked for all of them.
    mutating func noteSize(_ fetch: TraceEvent.Fetch, at index: Int, isSetup: Bool, in tables: ProfileTables) {
        guard fetch.limit == 0, fetch.error == 0, fetch.resultType == .objects else { return }
        let isWhole = tables.fetches[index].key.shape.predicate.isEmpty
        guard isWhole || !isSetup else { return }
        let rows = UInt64(fetch.rows)
        sizes[index, default: ResultSizes()].note(mostRows: isSetup ? 0 : rows, tableRows: isWhole ? rows : 0)
    }

    /// Remembers how many rows a table has that a fetch's own statement went through.
    mutating func noteSize(_ statement: TraceEvent.Statement, _ plan: PlanFacts?, of index: Int) {
        guard statement.fullScanSteps > 0, statement.error == 0, plan?.access?.isScan == true else { return }
        // The first row of a scan takes no step.
        sizes[index, default: ResultSizes()].note(mostRows: 0, tableRows: UInt64(statement.fullScanSteps) + 1)
    }

    /// Adds this run to the growth of the fetches' results.
    mutating func finishSizes(into tables: inout ProfileTables) {
        var tableRows: [String: UInt64] = [:]
        for (index, size) in sizes {
            let tree = tables.tree(of: tables.fetches[index].key.shape.entity)
            tableRows[tree] = max(tableRows[tree] ?? 0, size.tableRows)
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
    fileprivate mutating func note(mostRows: UInt64, tableRows: UInt64) {
        self.mostRows = max(self.mostRows, mostRows)
        self.tableRows = max(self.tableRows, tableRows)
    }
}
