internal import FaultlineTrace

/// Estimates for searches whose scanned rows were not counted.
extension TextSearchRule {
    /// Whether a search takes so long that it must have scanned many rows.
    static func isLong(_ counts: FetchCounts) -> Bool {
        LongFetch.isLong(counts.meanTime, explained: CostModel.assumed.cost(trips: 1, rows: counts.foundRows))
    }

    /// The number of rows that a search may have scanned, from its time.
    static func assumedRows(_ counts: FetchCounts) -> Double {
        isLong(counts) ? counts.meanTime / TextSearchCost.usual : 0
    }
}
