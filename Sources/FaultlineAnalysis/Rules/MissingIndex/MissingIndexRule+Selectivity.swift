internal import FaultlineTrace

/// How many rows an index leads to, where that is more than a fetch finds.
extension MissingIndexRule {
    /// Operations of SQLite's virtual machine for a row that a scan steps over: to read and compare a column for each
    /// term, and to go on.
    private static func skipping(_ terms: Int) -> Double { Double(2 * max(1, terms) + 1) }

    /// Operations for a row that joins a group: its columns are sorted before they are added up.
    private static let grouping = 15.0

    /// Rows that the index's terms leave over in one of the fetches, on average: those that are found, or at least as many
    /// as SQLite's counters tell.
    ///
    /// - Parameter index: `nil`: one of which nothing is known but that it leads to what is found.
    static func ledRows(of fetch: FetchProfile, to index: IndexProposal?) -> Double {
        let found = fetch.counts.foundRows
        guard let index else { return found }
        return max(found, comparedRows(fetch, index) ?? 0, addedRows(fetch) ?? 0)
    }

    /// Rows that a text search was asked about, which all terms in front of it had left over.
    private static func comparedRows(_ fetch: FetchProfile, _ index: IndexProposal) -> Double? {
        let (counts, terms) = (fetch.counts, fetch.key.shape.terms ?? [])
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
    static func sparedSearches(_ fetch: FetchProfile, _ index: IndexProposal) -> Double? {
        let (counts, shape) = (fetch.counts, fetch.key.shape)
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
    private static func addedRows(_ fetch: FetchProfile) -> Double? {
        let (counts, shape) = (fetch.counts, fetch.key.shape)
        guard counts.statements > 0, let expressions = shape.expressions, !expressions.isEmpty,
            shape.resultType == "dictionaries"
        else { return nil }
        let each = shape.groups == nil ? Double(2 * expressions.count) : grouping + Double(2 * expressions.count)
        let steps = Double(counts.virtualMachineSteps) / Double(counts.statements)
        return max(0, steps - skipping(shape.terms?.count ?? 0) * counts.scannedRows) / each
    }

    /// The share of a table above which an index does not help a fetch.
    static func share(of fetch: FetchProfile) -> Double {
        (fetch.key.shape.loadsRows ? largestShare : largestIndexShare).value
    }

    /// Whether an index leads to so many rows of the table that going through the table is as good.
    ///
    /// One that has them in the fetch's order serves a limit all the same, which stops at the last row it needs.
    static func leadsToMost(_ index: IndexProposal, _ fetch: FetchProfile) -> Bool {
        let keys = fetch.key.shape.sort.map { $0.split(separator: " ").first.map(String.init) ?? "" }
        let isOrdered = !keys.isEmpty && index.elements.dropFirst(index.equalities).map(\.property) == keys
        if fetch.key.shape.isLimited, isOrdered { return false }
        return ledRows(of: fetch, to: index) > share(of: fetch) * fetch.counts.scannedRows
    }
}

extension ShapeEntry {
    /// Whether SQLite goes from an index to the rows that it leads to; counts and identities come from the index alone.
    var loadsRows: Bool { !["count", "objectIDs"].contains(resultType) }
}
