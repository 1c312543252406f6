internal import FaultlineFindings
internal import FaultlineProfile
package import FaultlineTrace

/// A few lines that show where round trips went, for the message of a test that made too many.
///
///     fetch  Item by name   1 ×   1 trip   100 rows  List.swift:42
///     fault  Item.location  48 ×  48 trips  48 rows  List.swift:57
package struct TripText: Sendable {
    /// The events of one kind with the same subject and line.
    private struct Line {
        var kind: EventKind
        var what: String
        var site: String
        var times: UInt64 = 0
        var trips: UInt64 = 0
        var rows: UInt64 = 0
    }

    private var lines: [Line] = []

    /// - Parameters:
    ///   - events: The events. Those without round trips are ignored.
    ///   - dictionary: The dictionary of the events' process.
    package init(_ events: some Sequence<TraceEvent>, dictionary: TraceDictionary) {
        var resolver = CallSiteResolver(dictionary: dictionary)
        let words = EventText(dictionary: dictionary)
        for event in events {
            var counts = EventGroup.Counts()
            counts.add(event)
            let isOperation = event.kind != .sql && event.kind != .cacheMiss
            guard isOperation, counts.trips > 0 else { continue }
            let site = resolver.reportedSite(of: event)
            let what = words.subject(of: event)
            let text = site?.description ?? "call site unknown"
            let known = lines.firstIndex { $0.kind == event.kind && $0.what == what && $0.site == text }
            if known == nil { lines.append(Line(kind: event.kind, what: what, site: text)) }
            let index = known ?? lines.count - 1
            lines[index].times += 1
            lines[index].trips &+= counts.trips
            lines[index].rows &+= counts.rows &+ counts.prefetchedRows
        }
    }

    /// Returns at most `limit` lines, those with the most trips first, without a trailing line feed.
    package func render(limit: Int = 12) -> String {
        let ranked = lines.enumerated().ordered { ($0.1.trips, $1.0) > ($1.1.trips, $0.0) }.map(\.1)
        var table = TextTable([
            .init(title: "", alignment: .left), .init(title: "", alignment: .left), .init(title: "", alignment: .right),
            .init(title: "", alignment: .right), .init(title: "", alignment: .right),
            .init(title: "", alignment: .left),
        ])
        for line in ranked.prefix(limit) {
            table.add([
                line.kind.name, line.what, "\(Phrase.count(line.times)) ×", Phrase.count(line.trips, "trip"),
                Phrase.count(line.rows, "row"), line.site,
            ])
        }
        let more = ranked.count > limit ? ["and \(Phrase.count(UInt64(ranked.count - limit))) more"] : []
        return (table.lines(width: .max / 2).dropFirst() + more).map { "  " + $0 }.joined(separator: "\n")
    }
}
