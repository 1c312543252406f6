/// Estimates the costs that batching does not save.
extension CostModel {
    /// The extra time, in nanoseconds, to load a row of a batch, which SQLite seeks by its identity, instead of loading
    /// it in a scan.
    static let soughtRow = 500.0

    /// The range of error, as a factor, of the costs that batching does not save.
    static let identityRange = 0.5...2.0

    /// The cost of finding the identities of a fetch's rows, before the first batch is loaded.
    ///
    /// SQLite scans and sorts as many rows for the identities as for whole rows. Batches only defer reading the columns
    /// and making the objects.
    func identities(of fetch: FetchProfile) -> Estimate {
        var estimate = identities(of: fetch.key.shape)
        let (counts, found) = (fetch.counts, fetch.counts.foundRows)
        // A fit to the shape's own trips includes the scan and the sort.
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
    /// The cost of finding the identities of a fetch's rows.
    func identities(of key: FetchProfile.Key, _ costs: CostModel) -> CostModel.Estimate {
        fetch(key).map { costs.identities(of: $0) } ?? costs.identities(of: key.shape)
    }
}
