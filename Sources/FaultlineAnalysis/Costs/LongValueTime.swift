internal import FaultlineTrace

/// How much of a fetch's time its long values took.
extension FetchProfile {
    /// The share of page reads that is saved when rows are scattered over the table: each lies on a page of its own, long or
    /// not.
    private static let sharedPages = 0.3

    /// The time that long values took while rows were loaded, in nanoseconds; `nil`: the machine's costs were not measured, or
    /// SQLite also read rows that it did not hand out.
    ///
    /// The time of the fetches is known, and only its parts follow from the costs. So the machine's speed at that moment cancels
    /// out.
    ///
    /// - Parameters:
    ///   - long: Bytes of the values in all rows.
    ///   - all: Bytes of all values in them.
    ///   - rows: Rows that were loaded.
    func time(
        ofBytes long: Double, of all: Double, rows: Double,
        _ byte: (cost: Double, factor: Double, confidence: Confidence), _ machine: MachineCosts
    ) -> Saving.Range? {
        guard let row = machine.loadedRow, Double(counts.sortedRows) <= rows, Double(counts.fullScanSteps) <= rows
        else {
            return nil
        }
        // The rows of one value of an index lie anywhere in the table.
        let isScattered = (key.shape.terms ?? []).contains(where: \.isEquality)
        let pages = Double(counts.pageMisses)
        let longPages = pages * long / max(1, all) * (isScattered ? Self.sharedPages : 1)
        let short = rows * (isScattered ? row + CostModel.soughtRow : row)
        let part = { (byte: Double, page: Double) in
            let spared = long * byte + longPages * page
            let kept = short + max(0, all - long) * byte + (pages - longPages) * page
            return loadTime * spared / max(1, spared + kept)
        }
        let page = machine.page
        let parts = [
            part(byte.cost, page.usual), part(byte.cost / byte.factor, page.least),
            part(byte.cost * byte.factor, page.most),
        ]
        return Saving.Range(median: parts[0], low: parts.min() ?? 0, high: parts.max() ?? 0)
    }

    /// The time that it took to load the rows of the fetches or of their batches, in nanoseconds, without waiting, preparing
    /// statements, prefetching, comparing unsaved objects and the fixed cost of a trip.
    private var loadTime: Double {
        let prefetching = prefetches.values.reduce(0) { $0 + Double($1.totalTime) }
        // A batched fetch itself loads only identities.
        if counts.batchTime > 0 {
            return max(0, Double(counts.batchTime) - prefetching - CostModel.emptyTrip * Double(total(\.batchesLoaded)))
        }
        let others = Double(counts.prepareTime) + Double(counts.waitTime) + Double(counts.pendingTime) + prefetching
        return max(0, Double(counts.time) - others - CostModel.emptyTrip * Double(counts.executions))
    }
}
