internal import FaultlineAnalysis

extension GroupedHotspots {
    /// The subject of the rows.
    var words: String { grouping == .site ? "call site" : grouping.rawValue }

    /// The titles of a table's columns.
    var titles: [String] { [words, "count", "p50", "p99", "rows", "total", "share"] }

    /// A sentence fragment about what the numbers stand for, or `nil` if that is clear.
    var remark: String? {
        grouping == .scope ? "p50 and p99 are durations of scopes, and totals time in the store" : nil
    }

    /// The sentence for a trace without rows.
    var absence: String {
        grouping == .scope ? "The program marked no scope." : "The trace has no operation of the store."
    }

    /// Returns the cells of a row.
    func cells(_ row: Row, _ times: GroupTimes) -> [String] {
        [
            row.name, Phrase.count(row.count), duration(row, times, 50), duration(row, times, 99),
            row.rows.map { Phrase.count($0) } ?? "–",
            row.untimed > 0 && row.untimed == row.count ? "–" : Phrase.duration(row.total), Phrase.percent(row.share),
        ]
    }

    private func duration(_ row: Row, _ times: GroupTimes, _ percentile: Double) -> String {
        // Of some rows, only the sum is known.
        row.durations.count == 0 && row.untimed == 0
            ? "–" : times.text(row.durations, untimed: row.untimed) { $0.percentile(percentile) }
    }
}
