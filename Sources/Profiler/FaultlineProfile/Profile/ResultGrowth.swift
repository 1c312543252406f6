import FaultlineTrace

/// The rows that a fetch found and the rows its table had, over the runs of a program.
///
/// For each size class of the table, it keeps the runs with the smallest and the largest table. Growths can therefore
/// be merged in any order, and one more run hides nothing.
package struct ResultGrowth: Sendable, Hashable {
    /// One run of the program.
    package struct Run: Sendable, Hashable {
        /// The rows of the table, as far as scans and fetches of all rows show them.
        package let tableRows: UInt64
        /// The rows of the largest result.
        package let rows: UInt64

        init(tableRows: UInt64, rows: UInt64) {
            self.tableRows = tableRows
            self.rows = rows
        }
    }

    /// The minimum ratio of the largest table to the smallest for a slope.
    static let minimumFactor = 2.0

    package init() {}

    /// The number of runs with a known table size.
    package private(set) var count: UInt64 = 0
    /// The kept runs, by the number of binary digits of their table's rows.
    private var kept: [Int: Extremes] = [:]

    private struct Extremes: Sendable, Hashable {
        var least: Run
        var most: Run
    }

    mutating func insert(_ run: Run) {
        count &+= 1
        keep(run)
    }

    private mutating func keep(_ run: Run) {
        let digits = UInt64.bitWidth - run.tableRows.leadingZeroBitCount
        var extremes = kept[digits] ?? Extremes(least: run, most: run)
        if run.precedes(extremes.least) { extremes.least = run }
        if extremes.most.precedes(run) { extremes.most = run }
        kept[digits] = extremes
    }

    /// The kept runs, the smallest tables first.
    package var runs: [Run] {
        kept.ordered(on: \.key).flatMap { _, extremes in
            extremes.least == extremes.most ? [extremes.least] : [extremes.least, extremes.most]
        }
    }

    /// The additional rows a fetch finds for each additional row of its table, or `nil` if the tables were about the
    /// same size.
    package var slope: Double? {
        let runs = runs
        guard let least = runs.first?.tableRows, let most = runs.last?.tableRows,
            Double(most) >= Self.minimumFactor * Double(least)
        else { return nil }
        return LineFit.theilSen(runs.map { Load(rows: $0.tableRows, bytes: 0, duration: $0.rows) })?.row
    }
}

extension ResultGrowth: Summed, StartsEmpty {
    package static let parts: [SumPart<ResultGrowth>] = [.sum("count", \.count), largest]

    /// Only several runs show how results grow, so the mean of recordings has all of them.
    package mutating func divide(by recordings: UInt64) {}

    /// The table's rows and the result's rows of each kept run.
    private static let largest = SumPart<ResultGrowth>(
        name: "runs", merge: { whole, other in for run in other.runs { whole.keep(run) } },
        store: { whole, _ in
            .list(whole.runs.map { .list([StoredValue($0.tableRows), StoredValue($0.rows)]) })
        },
        restore: { whole, value, _ in
            for run in try value.map({ run in
                let numbers = try run.list(of: 2)
                return Run(tableRows: try numbers[0].count(), rows: try numbers[1].count())
            }) { whole.keep(run) }
        })
}

extension ResultGrowth.Run {
    /// Whether its table is smaller or, for tables of equal size, its result.
    fileprivate func precedes(_ other: ResultGrowth.Run) -> Bool {
        (tableRows, rows) < (other.tableRows, other.rows)
    }
}
