internal import FaultlineAnalysis
internal import FaultlineTrace

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
