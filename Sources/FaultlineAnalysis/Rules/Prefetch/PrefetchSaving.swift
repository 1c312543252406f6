internal import FaultlineTrace

/// The saving of a prefetch.
///
/// It is less than the trips' time, because each row must still be sought, read and kept.
///
/// The constants were measured in release builds, with 50–5,000 rows of 50 bytes and of 2 KiB, to-one and to-many. In
/// the program's own process, a prefetch saves 25–43 % of a trip's recorded time. The rest is the row itself, the fault
/// that the row cache then serves, and the recording of each trip. The first prefetch takes another 15–60 µs to prepare
/// its statement.
struct PrefetchSaving {
    /// The share of a quick trip's time that remains if the row is loaded together with others, with its range.
    static let kept = 0.68
    static let keptRange = 0.55...0.9
    /// The time below which a trip is quick, in nanoseconds, without the time for its bytes.
    ///
    /// A quick trip is one prepared statement in an open transaction of the program's own process. 1.3–2.8 µs were
    /// measured in release builds, and 3–6 µs in debug builds. A transaction of its own makes it at least 10 µs.
    static let quick = 8000.0
    /// The time a prefetch takes before its first row, in nanoseconds, with its range.
    static let statement = 12_000.0
    static let statements = 8000.0...20_000.0
    /// The cost of a row that is prefetched but never read, as a share of a quick trip.
    static let unread = 0.4
    /// The time the first prefetch of a run takes to prepare its statement, in nanoseconds, with its range.
    static let preparation = 40_000.0
    static let preparations = 10_000.0...70_000.0
    /// The share of the faults' time below which a saving is within the noise of a run.
    static let measurable = 0.05

    let evidence: FaultEvidence
    /// The trips and rows that a prefetch takes instead.
    let after: (trips: Double, rows: Double)
    /// Whether one grouped fetch counts the members instead, without reading rows.
    let isCounted: Bool
    /// The number of recorded runs of the program.
    let runs: UInt64
    let costs: CostModel.Estimate

    /// The time of the faults without outliers, in nanoseconds.
    private var time: Double { evidence.typicalTime }
    /// The time of one fault without outliers, in nanoseconds.
    var one: Double { time / Double(max(1, evidence.trips)) }

    private var isQuick: Bool {
        let bytes = Double(evidence.bytes) / Double(max(1, evidence.trips))
        return one < Self.quick + bytes * CostModel.assumedByte
    }

    /// In nanoseconds.
    ///
    /// Negative if prefetching costs more than the trips.
    var range: (median: Double, low: Double, high: Double) {
        if isCounted { return joined(minimumKept: 0) }
        guard isQuick else { return joined(minimumKept: Self.kept) }
        let usual = quick(
            kept: Self.kept, lookUp: CostModel.prefetchedRow, statement: Self.statement, preparation: Self.preparation)
        let low = quick(
            kept: Self.keptRange.upperBound, lookUp: CostModel.prefetchedRows.upperBound,
            statement: Self.statements.upperBound, preparation: Self.preparations.upperBound)
        let high = quick(
            kept: Self.keptRange.lowerBound, lookUp: CostModel.prefetchedRows.lowerBound,
            statement: Self.statements.lowerBound, preparation: Self.preparations.lowerBound)
        return (usual, low, high)
    }

    /// The predicted saving: zero if no run would show it, although the range may extend beyond zero.
    var saving: Saving.Range {
        let range = range
        if range.median > Self.measurable * time { return Saving.Range(range) }
        return Saving.Range(median: 0, low: 0, high: max(0, range.high))
    }

    /// The saving for quick trips, from the measured shares, because the cost model of fetches does not apply to them.
    private func quick(kept: Double, lookUp: Double, statement: Double, preparation: Double) -> Double {
        // The members of a to-many relationship are loaded by the owner's trip, or each by a trip of its own.
        let unneeded = max(0, after.rows - Double(max(evidence.objects, evidence.filled)))
        let others = max(0, Double(evidence.originRows) - Double(evidence.objects))
        return time * (1 - kept) - unneeded * one * Self.unread - others * lookUp - after.trips * statement
            - Double(max(1, runs)) * preparation
    }

    /// The saving from the fitted cost of trips.
    ///
    /// A row that is loaded together with others costs at most half of its own trip, because the store's other rows may
    /// be longer.
    ///
    /// - Parameter minimumKept: The share of each trip that remains if the row dominates it, as when it must be read from
    ///   a disk.
    private func joined(minimumKept: Double) -> (median: Double, low: Double, high: Double) {
        let lookUps = CostModel.prefetchedRows
        return costs.range(
            usual: (kept: 0, lookUp: CostModel.prefetchedRow), least: (kept: minimumKept, lookUp: lookUps.upperBound),
            most: (kept: 0, lookUp: lookUps.lowerBound)
        ) { line, assumed in
            let line = CostLine(trip: line.trip, row: max(min(line.row, one / 2), assumed.kept * one))
            return time - line.cost(trips: after.trips, rows: after.rows)
                - Double(evidence.originRows) * assumed.lookUp
        }
    }
}
