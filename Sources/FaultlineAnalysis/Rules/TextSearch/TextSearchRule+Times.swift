internal import FaultlineTrace

/// Searches for which nobody counted the rows that they went through.
extension TextSearchRule {
    /// Whether a search takes so long that it must have gone through many rows.
    static func isLong(_ counts: FetchCounts) -> Bool {
        counts.meanTime >= LongFetch.minimumTime.value
            && counts.meanTime >= LongFetch.minimumFactor * CostModel.assumed.cost(trips: 1, rows: counts.foundRows)
    }

    /// Rows that a search may have gone through, by its time.
    static func assumedRows(_ counts: FetchCounts) -> Double {
        isLong(counts) ? counts.meanTime / TextSearchCost.usual : 0
    }
}
