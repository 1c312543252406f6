internal import FaultlineAnalysis
internal import FaultlineTrace

/// A timeline as JSON: the numbers of each column.
enum TimelineJSON {
    /// The number of columns.
    private static let columns = 100

    static func render(_ timeline: EventTimeline) -> String {
        let duration = Double(timeline.range.upperBound - timeline.range.lowerBound)
        return JSONValue.sorted([
            "from": .unsigned(timeline.range.lowerBound), "to": .unsigned(timeline.range.upperBound),
            "columns": .unsigned(UInt64(columns)), "columnDuration": .number(duration / Double(columns)),
            "events": .unsigned(timeline.events), "lanes": .array(timeline.lanes.map { lane($0, of: timeline) }),
        ]).indented + "\n"
    }

    private static func lane(_ lane: EventTimeline.Lane, of timeline: EventTimeline) -> JSONValue {
        .sorted([
            "process": lane.isRest ? .null : .unsigned(UInt64(lane.process)), "program": .string(lane.program),
            "thread": lane.thread.map { .unsigned(UInt64($0)) } ?? .null, "threadName": .string(lane.threadName),
            "isMainThread": .bool(lane.isMainThread), "isRest": .bool(lane.isRest),
            "scopes": .array(lane.scopes.map { scopes($0, of: timeline) }),
            "tracks": .array(lane.tracks.map { track($0, of: timeline) }),
        ])
    }

    private static func scopes(_ track: EventTimeline.Track, of timeline: EventTimeline) -> JSONValue {
        var members = numbers(track, of: timeline)
        (members["name"], members["kind"]) = (.null, .null)
        if case .scopes(let name, let kind) = track.subject {
            (members["name"], members["kind"]) = (.string(name), .string("\(kind)"))
        }
        return .sorted(members)
    }

    private static func track(_ track: EventTimeline.Track, of timeline: EventTimeline) -> JSONValue {
        var members = numbers(track, of: timeline)
        guard case .events(let kind) = track.subject else { return .sorted(members) }
        members["kind"] = .string(kind.name)
        members["title"] = .string(kind.trackName)
        if kind == .memory {
            members["highest"] = .unsigned(track.level)
            members["level"] = .array(timeline.columns(of: track, columns).map { .unsigned($0.level) })
        }
        return .sorted(members)
    }

    /// The members that all tracks have: totals, and the covered time and the number of events of each column.
    private static func numbers(_ track: EventTimeline.Track, of timeline: EventTimeline) -> [String: JSONValue] {
        let columns = timeline.columns(of: track, columns)
        return [
            "count": .unsigned(track.events), "time": .unsigned(track.time),
            "covered": .array(columns.map { .number($0.covered.rounded()) }),
            "began": .array(columns.map { .unsigned($0.events) }),
        ]
    }
}
