/// What a trip to the store costs: so much for itself, and so much for each row.
public struct CostLine: Sendable, Hashable {
    /// In nanoseconds a trip.
    public var trip: Double
    /// In nanoseconds a row.
    public var row: Double

    /// In nanoseconds.
    public func cost(trips: Double, rows: Double) -> Double { trips * trip + rows * row }

    /// The cost of trips that seek with an index and do not sort: at most the assumed one, because a fit to trips that scan
    /// or sort includes that work.
    var sought: CostLine {
        CostLine(trip: min(trip, CostModel.assumed.trip), row: min(row, CostModel.assumed.row))
    }
}

/// Fits lines through loads with a method that a few outliers do not move (Theil 1950, Sen 1968).
enum LineFit {
    /// The median of the slopes between all pairs of loads with different row counts, and the median of what is left.
    ///
    /// What a trip costs is read from the half with fewer rows: in the other half it drowns in the rows' scatter.
    ///
    /// - Returns: `nil` if all loads have the same number of rows.
    /// - Complexity: O(n²).
    static func theilSen(_ loads: [Load]) -> CostLine? {
        var slopes: [Double] = []
        for first in loads.indices {
            for second in loads.indices[(first + 1)...] where loads[second].rows != loads[first].rows {
                let rise = Double(loads[second].duration) - Double(loads[first].duration)
                slopes.append(rise / (Double(loads[second].rows) - Double(loads[first].rows)))
            }
        }
        guard !slopes.isEmpty else { return nil }
        let row = max(0, median(&slopes))
        let small = loads.sorted { ($0.rows, $0.duration) < ($1.rows, $1.duration) }.prefix((loads.count + 1) / 2)
        var rests = small.map { Double($0.duration) - row * Double($0.rows) }
        return CostLine(trip: max(0, median(&rests)), row: row)
    }

    /// Lines through samples that are drawn from the loads again and again, which shows how far the fit can be trusted.
    static func bootstrap(_ loads: [Load], rounds: Int, seed: UInt64) -> [CostLine] {
        var generator = SeededGenerator(seed: seed)
        let size = min(loads.count, 48)
        return (0..<rounds).compactMap { _ in
            theilSen((0..<size).map { _ in loads[Int(generator.next() % UInt64(loads.count))] })
        }
    }

    static func median(_ values: inout [Double]) -> Double {
        guard !values.isEmpty else { return 0 }
        values.sort()
        let middle = values.count / 2
        return values.count % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2
    }
}
