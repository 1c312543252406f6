package import FaultlineProfile
import FaultlineTrace

/// The cost of using some results with each batch size.
package struct BatchCurve: Sendable, Hashable {
    /// One batch size.
    package struct Point: Sendable, Hashable {
        /// The size, where 0 stands for all rows at once.
        package var batchSize: UInt64
        /// The total time of loading the rows that were used, including the rows' identities, in nanoseconds.
        package var cost: Double
        /// The time to load one batch, in nanoseconds.
        package var wait: Double
        /// The memory of one batch's rows, in bytes.
        package var memory: Double
    }

    /// The points by batch size, with all rows at once last.
    package internal(set) var points: [Point]
    /// The sizes that cost about as little as the cheapest, the smallest first and all rows at once last.
    package internal(set) var plateau: [UInt64]
    /// The current size and the advised one.
    package internal(set) var current: UInt64
    package var advised: UInt64

    /// The maximum ratio of a size's cost to the cheapest at which the two count as equal.
    package static let equality = Threshold(
        "R02", "equalCost", 1.1, .factor, "maximum ratio of two sizes' costs that count as equal")

    /// Computes a curve from the rows that each size would have loaded for the rows that were used.
    ///
    /// - Parameters:
    ///   - line: The cost of a trip and of a row.
    ///   - identity: The cost of a trip and of a row for identities alone, which are all found before the first batch.
    ///   - isAllowed: Whether a size may count as the cheapest.
    package init(
        _ use: ResultUse, current: UInt64, line: CostLine, identity: CostLine, among isAllowed: (Point) -> Bool
    ) {
        let rows = Double(use.rows) / Double(max(1, use.executions))
        points = Set(ResultUse.candidates + [current]).map { size in
            let held = size == 0 ? rows : min(rows, Double(size))
            return Point(
                batchSize: size, cost: Self.cost(of: use, size, line, identity),
                wait: line.cost(trips: 1, rows: held), memory: held * use.rowSize)
        }.ordered { Self.order($0.batchSize) < Self.order($1.batchSize) }
        let allowed = points.filter(isAllowed)
        let least = allowed.map(\.cost).min() ?? 0
        plateau = allowed.filter { $0.cost <= least * Self.equality.value }.map(\.batchSize)
        (self.current, advised) = (current, current)
    }

    /// The total cost of a size, in nanoseconds.
    package static func cost(of use: ResultUse, _ size: UInt64, _ line: CostLine, _ identity: CostLine) -> Double {
        let executions = Double(use.executions)
        guard size > 0 else { return line.cost(trips: executions, rows: Double(use.rows)) }
        let loading = use.loadings[size] ?? .init()
        return identity.cost(trips: executions, rows: Double(use.rows))
            + line.cost(trips: Double(loading.batches), rows: Double(loading.rows))
    }

    private static func order(_ size: UInt64) -> UInt64 { size == 0 ? .max : size }

    /// The point of a size, or `nil` if it was not computed.
    package subscript(size: UInt64) -> Point? { points.first { $0.batchSize == size } }

    package func cost(_ size: UInt64) -> Double { self[size]?.cost ?? 0 }

    /// `Sizes 20–500 take the same total time within 10 %`, or `nil` if one size is the cheapest.
    package var equalSizes: Wording? {
        let batched = plateau.filter { $0 > 0 }
        guard let first = batched.first, let last = batched.last, first != last else { return nil }
        return
            "Sizes \(count: first, of: .rows)–\(count: last, of: .rows) take the same total time within "
            + "\(percent: Self.equality.value - 1)"
    }
}

extension ResultUse {
    /// The mean number of bytes of a loaded row.
    package var rowSize: Double { loadedRows == 0 ? 0 : Double(bytes) / Double(loadedRows) }

    /// Whether the used rows are so scattered that even the smallest batches load mostly unused rows.
    package var isScattered: Bool {
        guard let smallest = loadings[5], touchedRows > 0 else { return false }
        return smallest.batches >= 3 &* executions && Double(smallest.rows) >= 2.5 * Double(touchedRows)
    }
}
