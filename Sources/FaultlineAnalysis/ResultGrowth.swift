/// How many rows a fetch found where its table had so many, over the runs of a program.
///
/// Of runs whose tables were about as large it keeps the one with the largest, so that parts add up in any order.
public struct ResultGrowth: Sendable, Hashable {
    /// One run of the program.
    public struct Run: Sendable, Hashable {
        /// Rows of the table, as far as scans and fetches of everything tell.
        public internal(set) var tableRows: UInt64 = 0
        /// Rows of the largest result.
        public internal(set) var rows: UInt64 = 0

        init() {}

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
    private var kept: [UInt64: Run] = [:]

    mutating func insert(_ run: Run) {
        count &+= 1
        kept[UInt64(UInt64.bitWidth - run.tableRows.leadingZeroBitCount), default: Run()].merge(run)
    }

    /// The runs that are kept, those with small tables first.
    public var runs: [Run] { kept.sorted { $0.key < $1.key }.map(\.value) }

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
    static let parts: [SumPart<ResultGrowth>] = [.sum("count", \.count), .part("kept", \.kept)]
}

extension ResultGrowth.Run: Mergeable, StartsEmpty {
    /// Keeps the run with the larger table, and of two with tables of one size that with the larger result.
    mutating func merge(_ other: ResultGrowth.Run) {
        if (other.tableRows, other.rows) > (tableRows, rows) { self = other }
    }

    /// The table's rows and those of the result.
    func stored(_ words: inout ProfileWords) -> StoredValue { .list([StoredValue(tableRows), StoredValue(rows)]) }

    mutating func restore(_ value: StoredValue, _ words: ProfileWords) throws {
        let numbers = try value.list(of: 2)
        (tableRows, rows) = (try numbers[0].count(), try numbers[1].count())
    }
}
