internal import FaultlineFindings
internal import FaultlineProfile
internal import FaultlineTrace

/// A timeline as text for a terminal: a row for each kind of event, over one time axis.
///
///     Fetches              ▁█▂     ▁▁    1.08 ms
struct TimelineText {
    let timeline: EventTimeline

    /// The widths of the columns beside the bars.
    private static let (label, total) = (22, 8)
    /// The minimum number of characters for the bars.
    private static let least = 20
    /// The smallest share of a column that is shown if no event began in it: half of the lowest block.
    private static let leastShare = 1.0 / 16
    /// The maximum number of rows for scopes in a lane.
    private static let scopes = 6

    func render(width: Int, colour: Bool) -> String {
        let ink = Ink(isColoured: colour)
        let number = max(Self.least, width - Self.label - Self.total - 4)
        let axis = TimeAxis(range: timeline.range, width: number)
        guard !timeline.lanes.isEmpty else { return TextPage.joined([[title(number, ink)]], ink) }
        let indent = String(repeating: " ", count: Self.label + 2)
        let heading =
            TextTable.pad(axis.line, to: number, .left) + "  " + TextTable.pad("total", to: Self.total, .right)
        var sections = [[title(number, ink), "", indent + ink(.dim, heading)]]
        for (index, lane) in timeline.lanes.enumerated() {
            let lines = self.lines(lane, number, ink)
            if index == 0 { sections[0] += lines } else { sections.append(lines) }
        }
        return TextPage.joined(sections, ink)
    }

    private func title(_ columns: Int, _ ink: Ink) -> String {
        let (from, to) = (timeline.range.lowerBound, timeline.range.upperBound)
        let extent = "\(Phrase.duration(from)) to \(Phrase.duration(to))"
        let column = "each column is \(Phrase.duration(Double(to - from) / Double(columns)))"
        return ink(.bold, "\(Phrase.count(timeline.events, "event")) from \(extent)") + "  (\(column))"
    }

    private func lines(_ lane: EventTimeline.Lane, _ number: Int, _ ink: Ink) -> [String] {
        var lines = [ink(.bold, Self.name(lane))]
        for track in lane.scopes.prefix(Self.scopes) { lines.append(row(track, number) { ink(.blue, $0) }) }
        let rest = lane.scopes.count - Self.scopes
        if rest > 0 {
            lines.append("  " + ink(.dim, "(\(Phrase.count(UInt64(rest), "more scope")))"))
        }
        for track in lane.tracks { lines.append(row(track, number) { ink(.green, $0) }) }
        return lines
    }

    private func row(_ track: EventTimeline.Track, _ number: Int, colour: (String) -> String) -> String {
        let columns = timeline.columns(of: track, number)
        let bars = TextTable.pad(Self.bars(track, columns, timeline.range), to: number, .left)
        let label = TextTable.pad(track.label(width: Self.label - 2), to: Self.label - 2, .left, .middle)
        let total = track.subject == .events(.memory) ? Phrase.size(Double(track.level)) : Phrase.duration(track.time)
        let text = track.time == 0 && track.level == 0 ? "–" : total
        return "  \(label)  \(colour(bars))  \(TextTable.pad(text, to: Self.total, .right))"
    }

    /// The bars of a track's columns: bands for scopes, and blocks for events.
    static func bars(
        _ track: EventTimeline.Track, _ columns: [EventTimeline.Column], _ range: ClosedRange<UInt64>
    ) -> String {
        let width = max(1, Double(range.upperBound - range.lowerBound)) / Double(max(1, columns.count))
        return String(
            columns.map { column -> Character in
                // An event that began before the column and ends early in it is visible in the column before.
                guard column.covered >= width * leastShare || column.events > 0 || column.level > 0 else { return " " }
                switch track.subject {
                case .events(.memory): return Blocks.character(Double(column.level) / Double(max(1, track.level)))
                case .events: return Blocks.character(column.covered / width)
                case .scopes, .otherScopes: return column.covered * 2 >= width ? "━" : "╌"
                }
            })
    }

    /// The name of a lane: `faultline, process 11500, main thread`.
    static func name(_ lane: EventTimeline.Lane) -> String {
        guard !lane.isRest else { return "others" }
        let process = "process \(lane.process)"
        let program = lane.program.isEmpty ? process : "\(Phrase.fileName(lane.program)), \(process)"
        guard let thread = lane.thread else { return program }
        if lane.isMainThread { return "\(program), main thread" }
        let name = lane.threadName.isEmpty ? "" : " (\(lane.threadName))"
        return "\(program), thread \(thread)\(name)"
    }
}

extension EventTimeline.Track {
    /// The name of the track's row.
    ///
    /// - Parameter width: The number of characters above which a scope's kind is left out, because names matter more.
    func label(width: Int) -> String {
        switch subject {
        case .events(let kind): return kind.presentation.track
        case .scopes(let name, let kind):
            let whole = "\(name) (\(kind))"
            return kind == .other || whole.count > width ? name : whole
        case .otherScopes: return "other scopes"
        }
    }
}

/// The ticks of a time axis at round times.
struct TimeAxis {
    /// The shown time, in nanoseconds since the trace began.
    let range: ClosedRange<UInt64>
    /// The number of characters.
    let width: Int

    /// The minimum number of characters from a tick to the next.
    private static let spacing = 14.0

    private static let units = [("s", 1e9), ("ms", 1e6), ("µs", 1e3), ("ns", 1.0)]

    private var duration: Double { max(1, Double(range.upperBound - range.lowerBound)) }

    /// The time between two ticks, in nanoseconds: 1, 2 or 5 times a power of ten.
    var step: Double {
        let least = max(1, duration * min(1, Self.spacing / Double(max(1, width))))
        var power = 1.0
        while power * 10 <= least { power *= 10 }
        return [1, 2, 5, 10].map { $0 * power }.first { $0 >= least } ?? power * 10
    }

    /// Returns the axis: a mark at the character of each tick, followed by the time: `│10 ms        │20 ms`.
    var line: String {
        var line = ""
        let step = step
        var number = (Double(range.lowerBound) / step).rounded(.up)
        while number * step <= Double(range.upperBound) {
            let position = Int((number * step - Double(range.lowerBound)) / duration * Double(width))
            let label = "│" + text(of: number * step, step)
            if position + label.count <= width {
                line += String(repeating: " ", count: max(0, position - line.count)) + label
            }
            // Beyond the precision of a number, the next tick would be the same one.
            guard number + 1 > number else { break }
            number += 1
        }
        return line
    }

    /// A time in the largest unit that shows the steps with at most three decimals: `1.204 s`.
    private func text(of time: Double, _ step: Double) -> String {
        let last = Double(range.upperBound)
        for (name, size) in Self.units where size <= max(1, last) {
            var (decimals, rest) = (0, step / size)
            while rest < 1 - 1e-9, decimals <= 3 { (decimals, rest) = (decimals + 1, rest * 10) }
            if decimals <= 3 { return "\(Phrase.decimal(time / size, places: decimals)) \(name)" }
        }
        return Phrase.duration(time)
    }
}

extension EventTimeline: Document {
    package func text(_ layout: Layout) -> String {
        TimelineText(timeline: self).render(width: layout.width, colour: layout.isColoured)
    }
}
