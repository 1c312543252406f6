internal import FaultlineAnalysis
internal import FaultlineTrace

/// A report in Markdown: what was recorded, what to change, and where the store's time went.
struct MarkdownReport {
    let analysis: Analysis
    /// Whether to show every finding in full, and every hotspot.
    var showsAll = false
    /// The hotspots to show in place of those by kind and line.
    var grouped: GroupedHotspots?

    /// Returns the report, with a trailing line feed.
    func render() -> String {
        Markdown.page([title, [Markdown.text(TextReport.facts(analysis.profile)) + "."], limits] + findings + hotspots)
    }

    private var title: [String] {
        let programs = TextReport.programs(analysis.profile).prefix(3).map(Markdown.code)
        return ["## Faultline: " + (programs.isEmpty ? "trace" : programs.joined(separator: ", "))]
    }

    /// The limits of what the trace shows.
    private var limits: [String] {
        let limits = analysis.quality?.explanation ?? []
        return limits.isEmpty ? [] : ["> [!NOTE]"] + limits.map { "> - " + Markdown.text($0) }
    }

    private var findings: [[String]] {
        let all = analysis.findings
        guard !all.isEmpty else { return [["No finding."]] }
        let full = FindingsText(findings: all, showsAll: showsAll).fullCount
        var blocks = [["### What to change"]]
        for (index, finding) in all.prefix(full).enumerated() {
            blocks += MarkdownFinding(finding: finding, number: index + 1).blocks
        }
        guard all.count > full else { return blocks }
        let rest = all.dropFirst(full).map { finding in
            "- \(finding.severity.name): \(finding.rule) \(Markdown.text(finding.title)), \(Markdown.site(finding.change))"
        }
        return blocks + [["### Also"], rest]
    }

    private func table(_ grouped: GroupedHotspots) -> [[String]] {
        let heading = "### Hotspots by \(grouped.words)"
        guard !grouped.rows.isEmpty else { return [[heading], [grouped.absence]] }
        let shown = grouped.rows.prefix(showsAll ? .max : TextReport.hotspots)
        let times = GroupTimes(analysis.profile)
        let rows = shown.map { row in
            let cells = grouped.cells(row, times)
            return [Markdown.code(cells[0])] + cells.dropFirst()
        }
        let rest = grouped.rows.count - shown.count
        let remarks = (rest > 0 ? ["\(Phrase.count(UInt64(rest))) more"] : []) + [grouped.remark].compactMap(\.self)
        return [
            [heading], Markdown.table(grouped.titles, numbers: [1, 2, 3, 4, 5, 6], rows),
            remarks.isEmpty ? [] : ["(\(remarks.joined(separator: "; ")))"],
        ]
    }

    private var hotspots: [[String]] {
        if let grouped { return table(grouped) }
        let groups = analysis.profile.hotspots
        let shown = groups.prefix(showsAll ? .max : TextReport.hotspots)
        let times = GroupTimes(analysis.profile)
        let rows = shown.map { group in
            [
                GroupText.kind(group.key), Markdown.code(GroupText.subject(group.key)), Phrase.count(group.count),
                times.text(group) { $0.percentile(50) }, times.text(group) { $0.percentile(99) },
                GroupText.rows(group), times.total(group),
                Markdown.site(group.key.site, unknown: "–"),
            ]
        }
        guard !rows.isEmpty else { return [] }
        let rest = groups.count - shown.count
        return [
            ["### Hotspots"],
            Markdown.table(
                ["kind", "what", "count", "p50", "p99", "rows", "total", "call site"], numbers: [2, 3, 4, 5, 6], rows),
            rest > 0 ? ["\(Phrase.count(UInt64(rest))) more."] : [],
        ]
    }
}
