import FaultlineTrace

/// The cost of a trip to the store: a fixed cost per trip, and a cost per row.
package struct CostLine: Sendable, Hashable {
    /// The fixed cost per trip, in nanoseconds.
    package var trip: Double
    /// The cost per row, in nanoseconds.
    package var row: Double

    package init(trip: Double, row: Double) { (self.trip, self.row) = (trip, row) }

    /// The cost of trips with rows, in nanoseconds.
    package func cost(trips: Double, rows: Double) -> Double { trips * trip + rows * row }
}

/// Fits lines through loads with a method that is robust against outliers (Theil 1950, Sen 1968).
package enum LineFit {
    /// Fits a line: the median slope between pairs of loads with different row counts, and the median of the
    /// remainders.
    ///
    /// The cost per trip comes from the half of the loads with fewer rows. In the other half, the scatter of the rows
    /// hides it.
    ///
    /// - Returns: The line, or `nil` if all loads have the same number of rows.
    /// - Complexity: O(n²).
    package static func theilSen(_ loads: [Load]) -> CostLine? {
        var slopes: [Double] = []
        for first in loads.indices {
            for second in loads.indices[(first + 1)...] where loads[second].rows != loads[first].rows {
                let rise = Double(loads[second].duration) - Double(loads[first].duration)
                slopes.append(rise / (Double(loads[second].rows) - Double(loads[first].rows)))
            }
        }
        guard !slopes.isEmpty else { return nil }
        let row = max(0, median(&slopes))
        let small = loads.ordered { ($0.rows, $0.duration) < ($1.rows, $1.duration) }.prefix((loads.count + 1) / 2)
        var rests = small.map { Double($0.duration) - row * Double($0.rows) }
        return CostLine(trip: max(0, median(&rests)), row: row)
    }

    /// Fits lines to random samples of the loads.
    ///
    /// Their spread shows how reliable the fit is.
    package static func bootstrap(_ loads: [Load], rounds: Int, seed: UInt64) -> [CostLine] {
        var generator = SeededGenerator(seed: seed)
        let size = min(loads.count, 48)
        return (0..<rounds).compactMap { _ in
            theilSen((0..<size).map { _ in loads[Int(generator.next() % UInt64(loads.count))] })
        }
    }

    /// Returns the median of values, whose order changes.
    ///
    /// - Complexity: O(n) on average.
    static func median(_ values: inout [Double]) -> Double {
        guard !values.isEmpty else { return 0 }
        let (middle, isOdd) = (values.count / 2, values.count % 2 == 1)
        return values.withUnsafeMutableBufferPointer { values in
            select(middle, of: values)
            if isOdd { return values[middle] }
            var before = values[0]
            for index in 1..<middle { before = max(before, values[index]) }
            return (before + values[middle]) / 2
        }
    }

    /// Moves the value to a position that it has in the sorted order, and smaller ones before it (Hoare's quickselect).
    private static func select(_ position: Int, of values: UnsafeMutableBufferPointer<Double>) {
        var (low, high) = (0, values.count - 1)
        var rounds = 0
        while low < high {
            rounds += 1
            if rounds > 64 {
                // An order for which the pivots are poor: sorting takes n log n.
                var rest = UnsafeMutableBufferPointer(rebasing: values[low...high])
                rest.sort()
                return
            }
            let (first, last) = (values[low], values[high])
            let middle = values[low + (high - low) / 2]
            let pivot = max(min(first, last), min(max(first, last), middle))
            // Afterward, values before `equal` are smaller than the pivot, and those after `end` are larger.
            var (index, equal, end) = (low, low, high)
            while index <= end {
                let value = values[index]
                if value < pivot {
                    (values[index], values[equal]) = (values[equal], value)
                    index += 1
                    equal += 1
                } else if value > pivot {
                    (values[index], values[end]) = (values[end], value)
                    end -= 1
                } else {
                    index += 1
                }
            }
            if position < equal {
                high = equal - 1
            } else if position > end {
                low = end + 1
            } else {
                return
            }
        }
    }
}

/// A random number generator whose sequence depends only on its seed.
package struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    package init(seed: UInt64) {
        state = seed
    }

    package mutating func next() -> UInt64 {
        defer { state &+= 0x9E37_79B9_7F4A_7C15 }
        return StableHash.mix(state)
    }
}
