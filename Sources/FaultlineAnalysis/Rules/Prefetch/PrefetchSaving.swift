internal import FaultlineTrace

/// What prefetching saves, which is less than the trips took: each row has to be sought, read and kept all the same.
///
/// Measured in release builds, with 50–5,000 rows of 50 bytes and of 2 KiB, to-one and to-many: of a trip in the program's
/// own process, a prefetch saves 25–43 % of what the trace says the trip took. The rest is the row itself, the fault that
/// the row cache then serves, and what recording adds to each trip. Another 15–60 µs go to the first prefetch, which
/// prepares its statement.
struct PrefetchSaving {
    /// What of a quick trip's time is left when the row comes with others, and the range in which that lies.
    static let kept = 0.68
    static let keptRange = 0.55...0.9
    /// Nanoseconds below which a trip is quick, beside what its bytes take.
    ///
    /// A quick trip is one prepared statement in an open transaction of the program's own process. 1.3–2.8 µs were measured in release builds, 3–6 µs in debug
    /// builds; a transaction of its own makes it 10 µs or more.
    static let quick = 8000.0
    /// What a prefetch takes before its first row, in nanoseconds, and the range in which that lies.
    static let statement = 12_000.0
    static let statements = 8000.0...20_000.0
    /// What a row costs that is loaded along and never read, as a share of a quick trip.
    static let unread = 0.4
    /// What the first prefetch of a run takes to prepare its statement, in nanoseconds, and the range in which that lies.
    static let preparation = 40_000.0
    static let preparations = 10_000.0...70_000.0
    /// The share of the faults' time below which a saving cannot be told from the noise of a run.
    static let measurable = 0.05

    let evidence: FaultEvidence
    /// The trips and rows that a prefetch takes instead.
    let after: (trips: Double, rows: Double)
    /// Whether one grouped fetch counts members instead, for which no row is read.
    let isCounted: Bool
    /// Runs of the program.
    let runs: UInt64
    let costs: CostModel.Estimate

    /// What the faults take where none is out of the ordinary, in nanoseconds.
    private var time: Double { evidence.typicalTime }
    /// The same for one of them.
    var one: Double { time / Double(max(1, evidence.trips)) }

    private var isQuick: Bool {
        let bytes = Double(evidence.bytes) / Double(max(1, evidence.trips))
        return one < Self.quick + bytes * CostModel.assumedByte
    }

    /// In nanoseconds; below 0 where prefetching costs more than the trips.
    var range: (median: Double, low: Double, high: Double) {
        if isCounted { return joined(leastKept: 0) }
        guard isQuick else { return joined(leastKept: Self.kept) }
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

    /// What is promised: nothing where no run would show it, though more may come of it.
    var saving: Saving.Range {
        let range = range
        if range.median > Self.measurable * time { return Saving.Range(range) }
        return Saving.Range(median: 0, low: 0, high: max(0, range.high))
    }

    /// Of quick trips the cost model of fetches says nothing: what remains of each is known from measurements.
    private func quick(kept: Double, lookUp: Double, statement: Double, preparation: Double) -> Double {
        // The members of a to-many relationship are filled by the owner's trip, or each by one of its own.
        let unneeded = max(0, after.rows - Double(max(evidence.objects, evidence.filled)))
        let others = max(0, Double(evidence.originRows) - Double(evidence.objects))
        return time * (1 - kept) - unneeded * one * Self.unread - others * lookUp - after.trips * statement
            - Double(max(1, runs)) * preparation
    }

    /// A trip for many keys takes what trips take, and a row that comes with others no more than half of what it took by
    /// itself: the store's other rows may be longer.
    ///
    /// - Parameter leastKept: What of each trip is left where the row is most of it, as one is that has to be read from a
    ///   disk.
    private func joined(leastKept: Double) -> (median: Double, low: Double, high: Double) {
        let lookUps = CostModel.prefetchedRows
        return costs.range(
            usual: (kept: 0, lookUp: CostModel.prefetchedRow), least: (kept: leastKept, lookUp: lookUps.upperBound),
            most: (kept: 0, lookUp: lookUps.lowerBound)
        ) { line, assumed in
            let line = CostLine(trip: line.trip, row: max(min(line.row, one / 2), assumed.kept * one))
            return time - line.cost(trips: after.trips, rows: after.rows)
                - Double(evidence.originRows) * assumed.lookUp
        }
    }
}
