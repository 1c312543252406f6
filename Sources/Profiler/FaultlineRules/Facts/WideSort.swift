internal import FaultlineFindings
internal import FaultlineProfile

/// The columns that SQLite's sorter carries for a fetch, beside the keys that it compares.
///
/// A sort copies each row with all selected columns into the sorter and out of it, and to a file if they are many
/// (https://www.sqlite.org/tempfiles.html#temporary_file_storage).
struct WideSort {
    /// The bytes of a row beyond those of a narrow one.
    let bytes: Double
    /// The rows that all sorts returned or skipped.
    ///
    /// With a limit, SQLite does not copy the columns of rows that sort behind the last one kept.
    let rows: Double
    /// SQLite's time for the fetches, in nanoseconds, which limits what the sorts can have cost.
    private let most: Double

    /// - Returns: `nil` if SQLite sorted nothing, sorted only the IDs of batched rows, or sorted narrow rows.
    init?(_ fetch: FetchProfile) {
        let counts = fetch.counts
        guard counts.sorts > 0, let (size, use) = fetch.mainUse, size == 0, use.rowSize > CostModel.narrowRow else {
            return nil
        }
        bytes = use.rowSize - CostModel.narrowRow
        rows = Double(counts.rows) + Double(counts.skippedRows)
        most = counts.isSplit ? counts.runTime : Double(counts.time)
    }

    /// The time that carrying the columns took, in nanoseconds.
    var time: StepCost {
        let (carried, byte) = (rows * bytes, CostModel.sortedByte)
        return StepCost(
            usual: min(most, carried * byte.usual), least: min(most, carried * byte.least),
            most: min(most, carried * byte.most))
    }

    /// The time that a sort needs in addition to the estimated cost of its rows, in nanoseconds.
    ///
    /// A batched result sorts IDs alone, and so spares it. Costs that were fitted to the fetch's own trips include it.
    static func time(beyond estimate: CostModel.Estimate, of fetch: FetchProfile?) -> StepCost {
        let isIncluded = [.shape, .size].contains(estimate.basis)
        return isIncluded ? .none : fetch.flatMap(WideSort.init)?.time ?? .none
    }
}
