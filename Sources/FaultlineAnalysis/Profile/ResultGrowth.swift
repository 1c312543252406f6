/// How many rows a fetch found where its table had so many, over the runs of a program.
///
/// Of runs whose tables were about as large it keeps the one with the smallest and the one with the largest, so that parts
/// add up in any order, and one run more hides nothing.
public struct ResultGrowth: Sendable, Hashable {
    /// One run of the program.
    public struct Run: Sendable, Hashable {
        /// Rows of the table, as far as scans and fetches of everything tell.
        public let tableRows: UInt64
        /// Rows of the largest result.
        public let rows: UInt64

        init(tableRows: UInt64, rows: UInt64) {
            self.tableRows = tableRows
            self.rows = rows
        }
    }

    /// How much larger the largest table must be than the smallest one to tell of growth.
    static let leastFactor = 2.0

    init() {}

    /// Runs of which the table's size is known.
    public private(set) var count: UInt64 = 0
    /// Those that are kept, by the number of binary digits of their table's rows.
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

    /// The runs that are kept, those with small tables first.
    public var runs: [Run] {
        kept.sorted { $0.key < $1.key }.flatMap { _, extremes in
            extremes.least == extremes.most ? [extremes.least] : [extremes.least, extremes.most]
        }
    }

    /// How many rows more a fetch finds for each row that its table has more; `nil`: the tables were all about as large.
    public var slope: Double? {
        let runs = runs
        guard let least = runs.first?.tableRows, let most = runs.last?.tableRows,
            Double(most) >= Self.leastFactor * Double(least)
        else { return nil }
        return LineFit.theilSen(runs.map { Load(rows: $0.tableRows, bytes: 0, duration: $0.rows) })?.row
    }
}

extension ResultGrowth: Summed, StartsEmpty {
    static let parts: [SumPart<ResultGrowth>] = [.sum("count", \.count), largest]

    /// Of each run that is kept the table's rows and those of the result.
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
    /// Whether its table is smaller, or of two tables of one size its result.
    fileprivate func precedes(_ other: ResultGrowth.Run) -> Bool {
        (tableRows, rows) < (other.tableRows, other.rows)
    }
}
