internal import FaultlineDocuments
internal import FaultlineFindings
internal import FaultlineProfile
internal import FaultlineRules
internal import FaultlineTrace

/// The durations of groups in words, to the precision of the trace.
struct GroupTimes {
    /// Whether the trace has 0 for durations below a millisecond.
    private let lacksShort: Bool

    init(_ profile: Profile) {
        lacksShort = profile.allProcesses.lacks(.shortDurations)
    }

    /// A figure of a group's durations, or `–` if the trace has none of them.
    func text(_ group: EventGroup, _ figure: (Distribution) -> UInt64) -> String {
        text(group.durations, untimed: group.untimed, figure)
    }

    /// A figure of durations, or `–` if the trace has none of them.
    ///
    /// - Parameter untimed: The number of events whose duration the trace does not have.
    func text(_ durations: Distribution, untimed: UInt64 = 0, _ figure: (Distribution) -> UInt64) -> String {
        guard durations.count > 0 || untimed == 0 else { return "–" }
        let value = figure(durations)
        return value == 0 && lacksShort ? "<1 ms" : Phrase.duration(value)
    }

    /// The sum of a group's durations, or `–` if all of them are below the trace's precision.
    func total(_ group: EventGroup) -> String {
        group.durations.total == 0 && lacksShort ? "–" : text(group) { $0.total }
    }
}

extension GroupedHotspots {
    /// The subject of the rows.
    var words: String { grouping == .site ? "call site" : grouping.rawValue }

    /// The titles of a table's columns.
    var titles: [String] {
        [words, "count", "p50", "p99"] + (grouping == .scope ? ["trips"] : []) + ["rows", "total", "share"]
    }

    /// A sentence fragment about the meaning of the numbers, or `nil` if that is clear.
    var remark: String? {
        grouping == .scope ? "p50 and p99 are durations of scopes, and totals time in the store" : nil
    }

    /// The sentence for a trace without rows.
    var absence: String {
        grouping == .scope ? "The program marked no scope." : "The trace has no operation of the store."
    }

    /// Returns the cells of a row.
    func cells(_ row: Row, _ times: GroupTimes) -> [String] {
        let isUntimed = row.untimed > 0 && row.untimed == row.count
        return [
            row.name, Phrase.count(row.count), duration(row, times, 50), duration(row, times, 99),
        ] + (row.trips.map { [Phrase.count($0)] } ?? []) + [
            row.rows.map { Phrase.count($0) } ?? "–", isUntimed ? "–" : Phrase.duration(row.total),
            isUntimed ? "–" : Phrase.percent(row.share),
        ]
    }

    private func duration(_ row: Row, _ times: GroupTimes, _ percentile: Double) -> String {
        // Of some rows, only the sum is known.
        row.durations.count == 0 && row.untimed == 0
            ? "–" : times.text(row.durations, untimed: row.untimed) { $0.percentile(percentile) }
    }
}

/// The section of a report with the groups of events that took the most time.
struct HotspotsText {
    let analysis: Analysis
    /// Whether to show every hotspot, and the spread of durations even if names are cut for it.
    let showsAll: Bool
    /// The hotspots to show in place of those by kind and line.
    var grouped: GroupedHotspots?

    /// The minimum width of a page for the spread of durations.
    private static let spreadWidth = 100

    func lines(_ ink: Ink, _ width: Int) -> [String] {
        if let grouped { return lines(grouped, ink, width) }
        let groups = analysis.profile.hotspots
        let shown = Array(groups.prefix(showsAll ? .max : TextReport.hotspots))
        guard !shown.isEmpty else { return [] }
        let rest = groups.count - shown.count
        var remarks = rest > 0 ? ["\(Phrase.count(UInt64(rest))) more"] : []
        var table = table(shown, nil)
        // Durations that the trace rounds to milliseconds have no spread.
        if !analysis.profile.allProcesses.lacks(.shortDurations), let scale = DurationScale(shown.map(\.durations)) {
            let wide = self.table(shown, scale)
            if showsAll || width >= Self.spreadWidth && wide.fullWidth <= width - 2 {
                table = wide
                remarks.append("spread from \(scale.words)")
            }
        }
        let more = remarks.isEmpty ? "" : "  (\(remarks.joined(separator: "; ")))"
        return [ink(.bold, "Hotspots") + ink(.dim, more)] + table.section(ink, width: width)
    }

    private func lines(_ grouped: GroupedHotspots, _ ink: Ink, _ width: Int) -> [String] {
        let heading = ink(.bold, "Hotspots by \(grouped.words)")
        guard !grouped.rows.isEmpty else { return [heading, "  \(grouped.absence)"] }
        let shown = grouped.rows.prefix(showsAll ? .max : TextReport.hotspots)
        let rest = grouped.rows.count - shown.count
        let remarks = (rest > 0 ? ["\(Phrase.count(UInt64(rest))) more"] : []) + [grouped.remark].compactMap(\.self)
        var table = TextTable(
            grouped.titles.enumerated().map { index, title in
                TextTable.Column(
                    title: title, alignment: index == 0 ? .left : .right, losing: index == 0 ? .middle : nil)
            })
        for row in shown { table.add(grouped.cells(row, GroupTimes(analysis.profile))) }
        let more = remarks.isEmpty ? "" : "  (\(remarks.joined(separator: "; ")))"
        return [heading + ink(.dim, more)] + table.section(ink, width: width)
    }

    /// - Parameter scale: The scale of the durations' spread, or `nil` to leave it out.
    private func table(_ groups: [EventGroup], _ scale: DurationScale?) -> TextTable {
        let spread = scale == nil ? [] : [TextTable.Column(title: "spread", alignment: .left)]
        var table = TextTable(
            [
                .init(title: "kind", alignment: .left), .init(title: "what", alignment: .left, losing: .middle),
                .init(title: "count", alignment: .right), .init(title: "p50", alignment: .right),
                .init(title: "p99", alignment: .right),
            ] + spread + [
                .init(title: "rows", alignment: .right), .init(title: "total", alignment: .right),
                .init(title: "call site", alignment: .left, losing: .beginning),
            ])
        let times = GroupTimes(analysis.profile)
        for group in groups {
            table.add(
                [
                    GroupText.kind(group.key), GroupText.subject(group.key), Phrase.count(group.count),
                    times.text(group) { $0.percentile(50) }, times.text(group) { $0.percentile(99) },
                ] + (scale.map { [$0.histogram(group.durations)] } ?? []) + [
                    GroupText.rows(group), times.total(group), group.key.site?.description ?? "–",
                ])
        }
        return table
    }
}
