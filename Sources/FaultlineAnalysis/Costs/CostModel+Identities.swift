/// What batches do not spare.
extension CostModel {
    /// What loading a row by its identity takes beside loading it in a scan, in nanoseconds, and the range in which that
    /// lies: SQLite seeks each row of a batch.
    static let soughtRow = 500.0

    /// How much more or less what batches do not spare may be.
    static let identityRange = 0.5...2.0

    /// The cost of finding the identities of a fetch's rows, which comes before the first batch.
    ///
    /// SQLite scans and sorts as many rows for them as for whole rows, so that only reading the columns and making the
    /// objects is left to the batches.
    func identities(of fetch: FetchProfile) -> Estimate {
        var estimate = identities(of: fetch.key.shape)
        let (counts, found) = (fetch.counts, fetch.counts.foundRows)
        // A shape's own trips tell it.
        guard estimate.basis != .shape, counts.isSplit, found >= 1 else { return estimate }
        let sorting = counts.sorts > 0 ? Self.sorting(found) : 0
        let work = machine.steppedRow.usual * max(counts.scannedRows, 2 * found) + sorting
        let row = min(work, counts.meanRunTime) / found
        estimate.line.row = row
        for index in estimate.alternatives.indices { estimate.alternatives[index].row = row }
        return estimate
    }
}

extension Profile {
    /// What finding the identities of a fetch's rows costs.
    func identities(of key: FetchProfile.Key, _ costs: CostModel) -> CostModel.Estimate {
        fetch(key).map { costs.identities(of: $0) } ?? costs.identities(of: key.shape)
    }
}
