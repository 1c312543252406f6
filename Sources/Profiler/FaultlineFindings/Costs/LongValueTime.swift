package import FaultlineProfile
internal import FaultlineTrace

/// Estimates the share of a fetch's time that its long values took.
extension FetchProfile {
    /// The share of page reads that is saved if rows are scattered over the table: each row then has a page of its own,
    /// with or without long values.
    private static let sharedPages = 0.3

    /// The time that long values took while rows were loaded, in nanoseconds.
    ///
    /// The total time is measured, and the costs only divide it, so the machine's momentary speed cancels out.
    ///
    /// - Parameters:
    ///   - long: The bytes of the long values in all rows.
    ///   - all: The bytes of all values in the rows.
    ///   - rows: The number of rows that were loaded.
    /// - Returns: The range of the time, or `nil` if the machine's costs were not measured, or SQLite also read rows
    ///   that it did not return.
    package func time(
        ofBytes long: Double, of all: Double, rows: Double,
        _ byte: (cost: Double, factor: Double, confidence: Confidence), _ machine: MachineCosts
    ) -> Saving.Range? {
        guard let row = machine.loadedRow, Double(counts.sortedRows) <= rows, Double(counts.fullScanSteps) <= rows
        else {
            return nil
        }
        // The rows that match one value of an index can be anywhere in the table.
        let isScattered = (key.shape.terms ?? []).contains(where: \.isEquality)
        let pages = Double(counts.pageMisses)
        let longPages = pages * long / max(1, all) * (isScattered ? Self.sharedPages : 1)
        let short = rows * (isScattered ? row + CostModel.soughtRow : row)
        // The sorter carries the bytes of each row that it sorts, and compares its keys.
        let sorted = min(1, Double(counts.sortedRows) / max(1, rows))
        let sorts = Double(max(1, counts.sorts))
        let comparing = sorted > 0 ? sorts * CostModel.sorting(Double(counts.sortedRows) / sorts) : 0
        let part = { (byte: Double, sorting: Double, page: Double) in
            let byte = byte + sorted * sorting
            let avoided = long * byte + longPages * page
            let kept = short + comparing + max(0, all - long) * byte + (pages - longPages) * page
            return loadTime * avoided / max(1, avoided + kept)
        }
        let (page, sorting) = (machine.page, CostModel.sortedByte)
        let parts = [
            part(byte.cost, sorting.usual, page.usual), part(byte.cost / byte.factor, sorting.least, page.least),
            part(byte.cost * byte.factor, sorting.most, page.most),
        ]
        return Saving.Range(median: parts[0], low: parts.min() ?? 0, high: parts.max() ?? 0)
    }

    /// The time spent loading rows of the fetches or their batches, in nanoseconds, excluding waits, preparation,
    /// prefetching, comparing unsaved objects, and the fixed cost of trips.
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
