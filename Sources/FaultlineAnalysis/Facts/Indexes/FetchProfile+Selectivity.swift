internal import FaultlineTrace

/// The rows that an index leads to, where these are more than a fetch finds, and the scan that the index spares.
extension FetchProfile {
    /// Operations of SQLite's virtual machine for a row that a scan steps over: to read and compare a column for each
    /// term, and to go on.
    private static func skipping(_ terms: Int) -> Double { Double(2 * max(1, terms) + 1) }

    /// Operations for a row that joins a group: its columns are sorted before they are added up.
    private static let grouping = 15.0

    /// Rows that the index's terms leave over in one of the fetches, on average: those that are found, or at least as many
    /// as SQLite's counters tell.
    ///
    /// - Parameter index: `nil`: one of which nothing is known but that it leads to what is found.
    func ledRows(to index: IndexProposal?) -> Double {
        let found = counts.foundRows
        guard let index else { return found }
        return max(found, comparedRows(index) ?? 0, addedRows ?? 0)
    }

    /// Rows that a text search was asked about, which all terms in front of it had left over.
    private func comparedRows(_ index: IndexProposal) -> Double? {
        let terms = key.shape.terms ?? []
        let searches = terms.filter(\.isSearch)
        guard counts.statements > 0, counts.textComparisons > 0, let first = terms.firstIndex(where: \.isSearch),
            !terms.contains(where: { $0.isAlternative == true })
        else { return nil }
        let before = Set(terms[..<first].map(\.keyPath))
        guard index.elements.prefix(max(1, index.equalities)).allSatisfy({ before.contains($0.property) }) else {
            return nil
        }
        // Of several searches the first was asked most.
        return Double(counts.textComparisons) / Double(counts.statements) / Double(searches.count)
    }

    /// The share of a table's rows whose texts need not be searched once an index is there.
    ///
    /// The index finds the rows that match the terms behind the search, so SQLite searches only these. `nil`: the fetch does not
    /// search the whole table first, or the trace does not show how many rows those terms keep.
    private func sparedSearches(_ index: IndexProposal) -> Double? {
        let shape = key.shape
        let terms = shape.terms ?? []
        guard let first = terms.firstIndex(where: \.isSearch), terms.count(where: \.isSearch) == 1,
            terms[first].isNegated != true, !terms.contains(where: { $0.isAlternative == true }),
            let matches = counts.meanTextMatches, matches > 0,
            Double(counts.textComparisons) >= counts.scannedRows / 2 * Double(counts.statements),
            !shape.isLimited || shape.sort.isEmpty
        else { return nil }
        let behind = Set(terms[(first + 1)...].map(\.keyPath))
        guard index.elements.prefix(max(1, index.equalities)).allSatisfy({ behind.contains($0.property) }) else {
            return nil
        }
        return 1 - min(1, counts.foundRows / matches)
    }

    /// Rows that were added up or counted in groups: each takes operations beyond those for a row that is stepped over.
    private var addedRows: Double? {
        let shape = key.shape
        guard counts.statements > 0, let expressions = shape.expressions, !expressions.isEmpty,
            shape.resultType == "dictionaries"
        else { return nil }
        let each = shape.groups == nil ? Double(2 * expressions.count) : Self.grouping + Double(2 * expressions.count)
        let steps = Double(counts.virtualMachineSteps) / Double(counts.statements)
        return max(0, steps - Self.skipping(shape.terms?.count ?? 0) * counts.scannedRows) / each
    }

    /// The share of a table above which an index does not help a fetch.
    var indexableShare: Double {
        (key.shape.loadsRows ? FetchIndexing.largestShare : FetchIndexing.largestIndexShare).value
    }

    /// Whether an index leads to so many rows of the table that going through the table is as good.
    ///
    /// One that has them in the fetch's order serves a limit all the same, which stops at the last row it needs.
    func isServedInVain(by index: IndexProposal) -> Bool {
        let keys = key.shape.sort.map { $0.split(separator: " ").first.map(String.init) ?? "" }
        let isOrdered = !keys.isEmpty && index.elements.dropFirst(index.equalities).map(\.property) == keys
        if key.shape.isLimited, isOrdered { return false }
        return ledRows(to: index) > indexableShare * counts.scannedRows
    }

    /// How many times as long as stepping over a row it takes to seek one that an index leads to, and the range in which
    /// that lies: 3–9 were measured, the most where each row lies on a page of its own.
    private static let seek = 6.0
    private static let seeks = 2.0...12.0

    /// What SQLite takes to go through rows that the index would not lead to, in nanoseconds.
    ///
    /// The rows that the fetch hands out are left out, since the index has to lead to them as well; so is all that is not
    /// SQLite's: waiting, preparing, prefetching and making objects.
    func sparedScan(with index: IndexProposal?, _ machine: MachineCosts) -> Saving.Range {
        let scanned = max(1, counts.scannedRows)
        let led = max(1, ledRows(to: index))
        let most = max(0, counts.runTime * (1 - led / scanned))
        let executions = Double(counts.executions)
        let sought = key.shape.loadsRows ? led : 0
        let gain = { (step: Double, seek: Double) in
            min(most, max(0, executions * step * (scanned - led - seek * sought)))
        }
        if let index, let spared = sparedSearches(index) {
            let most = counts.runTime * spared
            return Saving.Range(median: 0.85 * most, low: 0.5 * most, high: most)
        }
        // Comparing texts, and adding values up, goes on for the rows that an index leads to.
        guard counts.textComparisons == 0, key.shape.expressions == nil || scanned >= 10 * led else {
            let step = machine.steppedRow
            return Saving.Range(median: gain(step.usual, 0), low: gain(step.least, 0), high: gain(step.most, 0))
        }
        let scan = scanTime(machine)
        let step = { (time: Double) in time / executions / scanned }
        let median = gain(step(scan.usual), Self.seek)
        return Saving.Range(
            median: median, low: gain(0.75 * step(scan.least), Self.seeks.upperBound),
            high: max(median, gain(1.4 * step(scan.most), Self.seeks.lowerBound)))
    }
}

extension ShapeEntry {
    /// Whether SQLite goes from an index to the rows that it leads to; counts and identities come from the index alone.
    var loadsRows: Bool { !["count", "objectIDs"].contains(resultType) }
}
