internal import FaultlineProfile
internal import FaultlineTrace

/// Fits costs to trips.
extension CostModel {
    /// Fits the store's line to trips of three sizes, or of two very different sizes, such as single rows and batches.
    ///
    /// Falls back to the calibration, and then to the assumed costs.
    static func fitStore(_ sample: LoadSample, _ calibration: LoadSample) -> Estimate {
        if let estimate = fit(sample, basis: .store, seed: 1) { return estimate }
        let loads = sample.loads
        if sample.count >= minimumTrips, let least = loads.first?.rows, let most = loads.last?.rows, most >= 5 * least,
            let line = LineFit.theilSen(loads)
        {
            let alternatives = LineFit.bootstrap(loads, rounds: rounds, seed: 1)
            return Estimate(line: line, alternatives: alternatives, basis: .store, trips: sample.count)
        }
        if let measured = fit(calibration, basis: .calibration, seed: 3) {
            return anchored(measured, to: loads)
        }
        return Estimate(line: assumed, alternatives: assumedAlternatives, basis: .assumed, trips: sample.count)
    }

    /// Scales a calibrated line to the trips of the trace.
    private static func anchored(_ measured: Estimate, to loads: [Load]) -> Estimate {
        let factors = loads.map { Double($0.duration) / max(1, measured.line.cost(trips: 1, rows: Double($0.rows))) }
            .sorted()
        // Faults on objects in adjacent rows are quicker than fetches, so they must not lower the estimate for fetches.
        let factor = loads.count < Int(minimumSizedTrips) ? amongOthers : max(1, factors[factors.count / 2])
        let scaled = { (line: CostLine, factor: Double) in CostLine(trip: line.trip * factor, row: line.row * factor) }
        return Estimate(
            line: scaled(measured.line, factor),
            alternatives: measured.alternatives.flatMap { line in
                calibrationRange.map { scaled(line, factor * $0) }
            }, basis: measured.basis, trips: measured.trips)
    }

    /// Estimates the cost per row of trips that carry about the same number of rows: the trip's time minus its fixed
    /// cost.
    ///
    /// The rows get at least half of a trip's time, because the store's fixed cost per trip can be higher than this
    /// shape's. One or two trips are better evidence than the store's other rows, which can be a hundred times as long,
    /// but they may be off by 50 %.
    static func fitSize(_ sample: LoadSample, trip: Double) -> Estimate? {
        let loads = sample.loads.filter { $0.rows > 1 }
        guard loads.count >= Int(minimumSizedTrips) || loads.contains(where: { $0.rows >= minimumSizedRows }) else {
            return nil
        }
        let lines = loads.map { load in
            let rest = max(Double(load.duration) - trip, Double(load.duration) / 2)
            return CostLine(trip: Double(load.duration) - rest, row: rest / Double(load.rows))
        }.ordered(on: \.row)
        let middle = lines[lines.count / 2]
        let others =
            loads.count >= Int(minimumSizedTrips)
            ? lines : lines + [0.5, 1.5].map { CostLine(trip: middle.trip, row: middle.row * $0) }
        return Estimate(line: middle, alternatives: others, basis: .size, trips: UInt64(loads.count))
    }

    static func fit(_ sample: LoadSample, basis: Basis, seed: UInt64) -> Estimate? {
        guard sample.count >= minimumTrips, sample.distinctRows >= minimumDistinctRows else { return nil }
        let loads = sample.loads
        guard let line = LineFit.theilSen(loads) else { return nil }
        let alternatives = LineFit.bootstrap(loads, rounds: rounds, seed: seed)
        return Estimate(line: line, alternatives: alternatives, basis: basis, trips: sample.count)
    }

    /// Fits the cost per byte, as the slope of the cost per row over the row size, to trips of all shapes.
    static func fitByte(_ loads: [Load], trip: Double) -> Double? {
        let long = loads.filter { $0.rows >= 5 && $0.bytes > 0 }
        let stride = max(1, long.count / 300)
        let rows = long.indices.filter { $0 % stride == 0 }.map { long[$0] }.map { load in
            // The fit takes rows and nanoseconds, so kibibytes are passed as rows and picoseconds as nanoseconds.
            Load(
                rows: load.bytes / load.rows / 1024, bytes: 0,
                // A longer time per row is damaged data and would overflow.
                duration: UInt64(min(1e15, max(0, Double(load.duration) - trip) / Double(load.rows) * 1000)))
        }
        let sizes = rows.map(\.rows)
        guard rows.count >= minimumTrips, let least = sizes.min(), let most = sizes.max(), most >= 2 * max(1, least),
            Set(sizes).count >= minimumDistinctRows, let line = LineFit.theilSen(rows),
            // A byte always costs something. A slope of 0 shows that other differences outweigh it.
            line.row > 0
        else { return nil }
        return line.row / 1024 / 1000
    }

    /// Half and twice the assumed costs, because nothing was measured.
    private static let assumedAlternatives = [
        CostLine(trip: assumed.trip / 2, row: assumed.row / 2), CostLine(trip: assumed.trip * 2, row: assumed.row * 2),
    ]
}
