internal import FaultlineFindings
internal import FaultlineProfile
internal import FaultlineTrace

/// Estimates how many rows an index finds, if that is more than the fetch returns.
extension FetchProfile {
    /// The virtual machine operations for a row that a scan steps over: to read and compare a column for each term, and
    /// to advance.
    private static func skipping(_ terms: Int) -> Double { Double(2 * max(1, terms) + 1) }

    /// The operations for a row that joins a group: its columns are sorted before they are summed.
    private static let grouping = 15.0

    /// The mean number of rows that match the index's terms: at least the rows that a fetch returns, and more if
    /// SQLite's counters show it.
    ///
    /// - Parameter index: The index, or `nil` for an index about which nothing else is known.
    func ledRows(to index: IndexProposal?) -> Double {
        let found = counts.foundRows
        guard let index else { return found }
        return max(found, comparedRows(index) ?? 0, addedRows ?? 0)
    }

    /// The number of rows that a text search compared, which match all terms before it.
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
        // Of several searches, the first was evaluated most often.
        return Double(counts.textComparisons) / Double(counts.statements) / Double(searches.count)
    }

    /// The share of a table's rows whose texts no longer need to be searched once an index exists.
    ///
    /// The index finds the rows that match the terms after the search, so SQLite searches only these. `nil` if the
    /// fetch does not search the whole table first, or the trace does not show how selective those terms are.
    private func searchSaving(_ index: IndexProposal) -> Double? {
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

    /// The number of rows that were summed or counted in groups, from the additional operations that each of them
    /// takes.
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

    /// Whether an index finds so many rows that scanning the table is as good.
    ///
    /// An index in the fetch's order still serves a limit, because SQLite stops at the last row it needs.
    func gainsNothing(by index: IndexProposal) -> Bool {
        let keys = key.shape.sort.map { $0.split(separator: " ").first.map(String.init) ?? "" }
        let isOrdered = !keys.isEmpty && index.elements.dropFirst(index.equalities).map(\.property) == keys
        if key.shape.isLimited, isOrdered { return false }
        return ledRows(to: index) > indexableShare * counts.scannedRows
    }

    /// The time to seek a row with an index, as a multiple of stepping over a row, with its range.
    ///
    /// 3–9 were measured, the most where each row is on a page of its own.
    private static let seek = 6.0
    private static let seeks = 2.0...12.0

    /// The time SQLite spends scanning rows that the index would skip, in nanoseconds.
    ///
    /// It excludes the rows that the fetch returns, because the index must find them too. It also excludes all time
    /// outside SQLite: waiting, preparing, prefetching and making objects.
    func scanSaving(with index: IndexProposal?, _ machine: MachineCosts) -> Saving.Range {
        let scanned = max(1, counts.scannedRows)
        let led = max(1, ledRows(to: index))
        let most = max(0, counts.runTime * (1 - led / scanned))
        let executions = Double(counts.executions)
        let sought = key.shape.loadsRows ? led : 0
        let gain = { (step: Double, seek: Double) in
            min(most, max(0, executions * step * (scanned - led - seek * sought)))
        }
        if let index, let avoided = searchSaving(index) {
            let most = counts.runTime * avoided
            return Saving.Range(median: 0.85 * most, low: 0.5 * most, high: most)
        }
        // Texts are still compared, and values still summed, for the rows that an index finds.
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

extension FetchProfile {
    /// The time SQLite spent stepping over rows in full scans that it did not return, in nanoseconds, with its range.
    ///
    /// It lies between two estimates. One assumes that a returned row takes several times as long as a row that is
    /// stepped over. The other uses the cost of a returned row that was measured on the machine. For counts and
    /// identities there is only the first.
    func scanTime(_ machine: MachineCosts) -> StepCost {
        let time = counts.scanTime
        let loaded = total(\.loadedRows)
        guard counts.scannedRows > 0, key.shape.loadsRows, counts.batchTime == 0,
            let row = machine.returnedRow(bytes: loaded > 0 ? Double(total(\.bytes)) / Double(loaded) : 0)
        else { return StepCost(usual: time, least: time, most: time) }
        let handedOut = min(row * Double(counts.rows), counts.runTime)
        let usual = counts.runTime - (handedOut * (counts.runTime - time)).squareRoot()
        return StepCost(
            usual: usual, least: min(time, counts.runTime - handedOut), most: max(time, counts.runTime - handedOut))
    }
}

extension ShapeEntry {
    /// Whether SQLite reads the rows that an index finds.
    ///
    /// Counts and IDs come from the index alone.
    var loadsRows: Bool { !["count", "objectIDs"].contains(resultType) }
}
