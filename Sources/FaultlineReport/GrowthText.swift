internal import FaultlineAnalysis
internal import FaultlineTrace

/// The section of a report that projects the time of fetches to more data.
struct GrowthText {
    let analysis: Analysis
    /// Whether to show all projections.
    var showsAll = false
    /// The maximum number of fetches shown.
    static let shown = 3
    /// The minimum time with a hundred times the rows for a fetch to be shown, in nanoseconds: a frame at 60 Hz.
    static let least = 16_000_000.0

    func lines(_ ink: Ink, _ width: Int) -> [String] {
        let all = analysis.profile.fetches.compactMap { fetch in
            Growth(fetch, costs: analysis.costs).map { (fetch: fetch, growth: $0, most: $0.time(with: 100).high) }
        }.filter { $0.growth.order != .logarithmic && $0.most >= Self.least }
        guard !all.isEmpty else { return [] }
        var table = TextTable([
            .init(title: "fetch", alignment: .left, losing: .middle), .init(title: "grows as", alignment: .left),
            .init(title: "now", alignment: .right), .init(title: "10 × the rows", alignment: .right),
            .init(title: "100 ×", alignment: .right), .init(title: "call site", alignment: .left, losing: .beginning),
        ])
        let ranked = all.ordered {
            ($0.most, $1.fetch.key.site?.description ?? "") > ($1.most, $0.fetch.key.site?.description ?? "")
        }
        for (fetch, growth, _) in ranked.prefix(showsAll ? .max : Self.shown) {
            table.add([
                GroupText.shape(fetch.key.shape), growth.order.rawValue, Phrase.duration(growth.now.median),
                Phrase.span(growth.time(with: 10)), Phrase.span(growth.time(with: 100)),
                fetch.key.site?.description ?? "–",
            ])
        }
        let more = all.count > Self.shown && !showsAll ? ink(.dim, "  (\(all.count - Self.shown) more)") : ""
        return [ink(.bold, "With more data") + more] + table.section(ink, width: width)
    }
}
